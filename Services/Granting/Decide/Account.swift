import Messages

/// The balance of one asset in one wallet: Σ ledger = balance = Σ remaining of its lots, always.
struct Account: Sendable, Equatable {
    /// Never negative; the database enforces it too.
    var balance: Int64 = 0
    /// How often it changed.
    var revision: Int64 = 0
    /// What was ever spent of it; saturates.
    var spent: Int64 = 0
}

/// An asset of a customer.
struct AccountKey: Hashable, Sendable, Comparable {
    /// Whose.
    var customer: CustomerID
    /// What.
    var asset: AssetID

    /// Lock order.
    static func < (left: Self, right: Self) -> Bool {
        (left.customer, left.asset) < (right.customer, right.asset)
    }
}

/// One line of the books. Written once, never changed.
struct LedgerRow: Sendable, Equatable {
    /// Where a movement comes from.
    enum Source: String, Sendable {
        /// A purchase.
        case purchase = "APPLE_IAP"
        /// Apple took money back, so assets are taken back.
        case refund = "APPLE_REFUND"
        /// Apple reversed that.
        case refundReversed = "APPLE_REFUND_REVERSED"
        /// A debt was paid from a grant, or from what a reversed refund gave back.
        case repayment = "DEBT_REPAYMENT"
        /// The refund that had caused the debt was reversed, so what had paid it came back.
        case repaymentReturned = "DEBT_REPAYMENT_RETURNED"
        /// The app's server spent it.
        case usage = "APP_USAGE"
        /// What was bought in the sandbox was swept.
        case sweep = "SANDBOX_SWEEP"
    }

    /// Whose account.
    var account: AccountKey
    /// Which way.
    var direction: LedgerDirection
    /// How much, never negative. 0 is written too: a refund that found nothing left must be explainable.
    var amount: Int64
    /// The balance after it.
    var balanceAfter: Int64
    /// What kind of cause.
    var source: Source
    /// Which cause: `<transactionId>/<revision>`; for a repayment `<owed for>/<paid by>/<revision>`; for a sweep
    /// `<transactionId>/<sweep>`; the caller's id of a spend.
    var sourceID: String
    /// The environment of the purchase; nil for spends, which draw on both.
    var environment: StoreEnvironment?
    /// For people.
    var remark: String?
    /// The message that caused it.
    var cause: MessageID
}
