import Messages
import Observability
import Pipeline

/// Logs what Apple takes back and gives back, a line for each asset (document C, C-113). Granting knows customers, not the
/// names an app has for its users.
enum RefundLines {
    /// Writes the lines of `fact`; none for facts of other kinds.
    static func write(_ fact: Fact, _ logger: Logger) {
        guard fact.type == .purchaseClawedBack,
            let refund = try? MessageCoding.decode(PurchaseClawedBack.self, from: fact.body)
        else { return }
        for (asset, amount) in moved(by: refund).sorted(by: { $0.key < $1.key }) where amount != 0 {
            logger.purchase(
                amount > 0 ? .refund : .refundReversed,
                [
                    "customer.id": .string(refund.customer.rawValue),
                    "transaction.id": .string(refund.transactionID.rawValue), "asset": .string(asset.rawValue),
                    "amount": .int(Int64(clamping: amount.magnitude)), "correlation.id": .string(fact.correlationID),
                    "app": .string(fact.app?.rawValue), "environment": .string(fact.environment?.rawValue),
                ])
        }
    }

    /// What was taken from the wallet and what became a debt, together; below zero: given back.
    private static func moved(by refund: PurchaseClawedBack) -> [AssetID: Int64] {
        var sums: [AssetID: Int64] = [:]
        for part in refund.taken + refund.owed {
            let (sum, overflow) = (sums[part.asset] ?? 0).addingReportingOverflow(part.amount)
            sums[part.asset] = overflow ? (part.amount > 0 ? .max : .min) : sum
        }
        return sums
    }
}
