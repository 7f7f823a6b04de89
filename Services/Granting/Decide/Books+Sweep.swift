import Messages

/// What a page of a sweep took.
struct SweepDecision: Sendable, Equatable {
    /// By asset, sorted.
    var amounts: [AssetAmount]
    /// One a wallet.
    var announcements: [Announcement]
}

/// Sweeping the sandbox: what is left of purchases that nobody paid for leaves the wallets.
extension Books {
    /// Takes what is left of sandbox grants, each lot by a line of its own. Production grants are left alone, whoever
    /// names them. What is taken so is no refund: a later refund of the purchase finds it gone, as if it had been spent.
    mutating func sweep(_ keys: [TransactionKey], _ sweep: String, _ cause: MessageID) -> SweepDecision {
        var total: [AssetID: Int64] = [:]
        var taken: [CustomerID: [AssetID: Int64]] = [:]
        var purchases: [CustomerID: [TransactionID]] = [:]
        for key in keys.sorted() where key.environment == .sandbox {
            guard let grant = grants[key] else { continue }
            purchases[grant.customer, default: []].append(key.transactionID)
            let sourceID = "\(key.transactionID)/\(sweep)"
            for lot in lots(of: key) {
                let amount = draw(lot.remaining, from: lot.key, .sweep, sourceID: sourceID)
                guard amount > 0 else { continue }
                _ = post(
                    LedgerRow(
                        account: lot.account, direction: .out, amount: amount, balanceAfter: 0, source: .sweep,
                        sourceID: sourceID, environment: .sandbox, remark: "Sandbox swept: \(grant.productID)",
                        cause: cause))
                // Sums for people: where they do not fit, the largest number says enough.
                total[lot.key.asset] = Amounts.sum(total[lot.key.asset] ?? 0, amount)
                taken[grant.customer, default: [:]][lot.key.asset] = Amounts.sum(
                    taken[grant.customer]?[lot.key.asset] ?? 0, amount)
            }
        }
        let announcements = purchases.sorted { $0.key < $1.key }.map { customer, transactions in
            let body = SandboxSwept(
                customer: customer, sweep: sweep, transactionIDs: transactions,
                taken: Self.sorted(taken[customer] ?? [:]), balances: balances(of: customer))
            return Announcement(body: .swept(body), key: "\(customer)/\(sweep)", environment: .sandbox)
        }
        return SweepDecision(amounts: Self.sorted(total), announcements: announcements)
    }

    private static func sorted(_ amounts: [AssetID: Int64]) -> [AssetAmount] {
        amounts.sorted { $0.key < $1.key }.map { AssetAmount(asset: $0.key, amount: $0.value) }
    }
}
