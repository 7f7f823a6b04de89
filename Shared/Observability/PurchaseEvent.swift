/// The events of a purchase that are logged under one name everywhere, so that one search finds them in all services
/// (document C, its chapter on logs). The raw value is the message of the line.
///
/// The keys: `user.id` (what the app calls its user) or `customer.id`, `product.id`, `transaction.id`, `status`,
/// `latency.ms`, `retry`, `asset`, `amount`.
public enum PurchaseEvent: String, Sendable, CaseIterable {
    /// A client hands in a purchase.
    case verifyRequest = "VerifyRequest"
    /// What it was answered, and after how long.
    case verifyResult = "VerifyResult"
    /// Apple answered a receipt with a status that is no verdict, such as 21007, and what is done about it (`retry`).
    case verifyError = "VerifyError"
    /// Apple took a purchase back: what was taken from the wallet or became a debt.
    case refund = "Refund"
    /// Apple took that back in turn: what was given back.
    case refundReversed = "RefundReversed"
    /// A purchase was handed in that this user had before.
    case duplicateRequest = "DuplicateRequest"

    /// Keys in the order document C shows them; others follow by their names.
    static let order = [
        "user.id", "customer.id", "product.id", "transaction.id", "status", "retry", "latency.ms", "amount", "asset",
    ]
}
