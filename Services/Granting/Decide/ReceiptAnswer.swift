import Messages

extension PurchaseAnswered {
    /// The one answer to a receipt, out of the answers to its purchases.
    ///
    /// Good if every purchase is delivered, those aside that belong to another customer (of a shared device) or were
    /// taken back, as long as one is the caller's. One that waits makes the whole answer wait: the client finishes
    /// nothing and sends the receipt again, which is safe.
    static func joined(_ answers: [PurchaseAnswered]) -> PurchaseAnswered? {
        guard answers.count > 1 else { return answers.first }
        let own = answers.filter { $0.code != .transactionAlreadyBound }
        guard let first = own.first else { return answers.first }
        if var open = own.first(where: { !$0.mayFinish }) {
            open.transactionIDs = own.compactMap(\.transactionID)
            return open
        }
        let delivered = own.filter { $0.status == .granted || $0.status == .alreadyGranted }
        guard var answer = delivered.last else { return first }
        answer.status = delivered.contains { $0.status == .granted } ? .granted : .alreadyGranted
        let counted = delivered.filter { $0.status == answer.status }
        answer.amounts = sums(counted.flatMap(\.amounts))
        answer.revokedShare = counted.map(\.revokedShare).max() ?? 0
        answer.transactionID = counted.first?.transactionID
        // All are of one product; of several catalogue versions the one that decided last is told.
        answer.rewardID = counted.last?.rewardID
        answer.transactionIDs = delivered.compactMap(\.transactionID)
        return answer
    }

    /// One amount an asset, sorted. For showing only: each part is in the books by itself.
    private static func sums(_ amounts: [AssetAmount]) -> [AssetAmount] {
        var sums: [AssetID: Int64] = [:]
        for part in amounts {
            let (sum, overflow) = (sums[part.asset] ?? 0).addingReportingOverflow(part.amount)
            sums[part.asset] = overflow ? .max : sum
        }
        return sums.map { AssetAmount(asset: $0.key, amount: $0.value) }.sorted { $0.asset < $1.asset }
    }
}
