/// An operator has what was bought in the sandbox swept out of an app's wallets, a page at a time.
public struct SandboxSweepRequested: Message {
    /// Routing key.
    public static var type: MessageType { .sandboxSweepRequested }
    /// The app.
    public var app: AppID
    /// Which sweep (UUID text), the same on every page: part of the source id of its lines.
    public var sweep: String
    /// Only what was granted before this (ms since 1970).
    public var before: Int64
    /// Go on behind this transaction, where an answer's ``SandboxSweepAnswered/next`` ended; nil: from the beginning.
    public var after: TransactionID?
    /// Who decided it, for the record.
    public var actor: String
    /// Count what would be swept, change nothing.
    public var isDryRun: Bool

    /// Composes the message.
    public init(app: AppID, sweep: String, before: Int64, after: TransactionID?, actor: String, isDryRun: Bool) {
        self.app = app
        self.sweep = sweep
        self.before = before
        self.after = after
        self.actor = actor
        self.isDryRun = isDryRun
    }
}

/// What a page of a sweep came to.
public struct SandboxSweepAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .sandboxSweepAnswered }
    /// Sandbox purchases that gave something until now.
    public var purchases: Int64
    /// What was taken out of wallets, sorted by asset.
    public var amounts: [AssetAmount]
    /// There may be more: ask again with this in ``SandboxSweepRequested/after``. Nil: that was all.
    public var next: TransactionID?

    /// Composes the answer.
    public init(purchases: Int64, amounts: [AssetAmount], next: TransactionID?) {
        self.purchases = purchases
        self.amounts = amounts
        self.next = next
    }
}

/// A wallet was swept of what was left of some sandbox purchases; entitlements that came from these have ended.
public struct SandboxSwept: Message {
    /// Routing key.
    public static var type: MessageType { .sandboxSwept }
    /// Whose wallet.
    public var customer: CustomerID
    /// Which sweep.
    public var sweep: String
    /// The purchases.
    public var transactionIDs: [TransactionID]
    /// What was taken, sorted by asset.
    public var taken: [AssetAmount]
    /// The wallet afterwards.
    public var balances: [AssetAmount]

    /// Composes the message.
    public init(
        customer: CustomerID, sweep: String, transactionIDs: [TransactionID], taken: [AssetAmount],
        balances: [AssetAmount]
    ) {
        self.customer = customer
        self.sweep = sweep
        self.transactionIDs = transactionIDs
        self.taken = taken
        self.balances = balances
    }
}
