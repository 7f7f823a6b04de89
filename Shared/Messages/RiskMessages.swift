/// Why a customer is flagged.
public enum RiskKind: String, Codable, Sendable, CaseIterable {
    /// A refund found its assets spent: the rest is owed.
    case debt
    /// Refunds within 30 days reached the number or amount at which the app wants somebody to look.
    case review
}

/// Somebody should look at a customer: a refund left a debt, or there were too many of them. An alert.
public struct RiskFlagged: Message {
    /// Routing key.
    public static var type: MessageType { .riskFlagged }
    /// Whom.
    public var customer: CustomerID
    /// Why.
    public var kind: RiskKind
    /// The refunded purchase that raised it.
    public var transactionID: TransactionID
    /// Which change of its revoked share did.
    public var revision: Int64
    /// What is owed on account of it.
    public var owed: [AssetAmount]

    /// Composes the message.
    public init(
        customer: CustomerID, kind: RiskKind, transactionID: TransactionID, revision: Int64, owed: [AssetAmount]
    ) {
        self.customer = customer
        self.kind = kind
        self.transactionID = transactionID
        self.revision = revision
        self.owed = owed
    }
}

/// A debt was paid, in part or whole: from a later grant, or from what a reversed refund gave back.
public struct DebtRepaid: Message {
    /// Routing key.
    public static var type: MessageType { .debtRepaid }
    /// Whose.
    public var customer: CustomerID
    /// The refunded purchase that is owed for.
    public var transactionID: TransactionID
    /// What.
    public var asset: AssetID
    /// How much was paid now.
    public var amount: Int64
    /// What is still open.
    public var open: Int64
    /// The purchase that paid.
    public var paidBy: TransactionID
    /// The balance of the asset afterwards.
    public var balance: Int64

    /// Composes the message.
    public init(
        customer: CustomerID, transactionID: TransactionID, asset: AssetID, amount: Int64, open: Int64,
        paidBy: TransactionID, balance: Int64
    ) {
        self.customer = customer
        self.transactionID = transactionID
        self.asset = asset
        self.amount = amount
        self.open = open
        self.paidBy = paidBy
        self.balance = balance
    }
}

/// An operator has looked at a user: refunds of before count for no limit any more.
public struct RiskClearRequested: Message {
    /// Routing key.
    public static var type: MessageType { .riskClearRequested }
    /// The app.
    public var app: AppID
    /// Whom.
    public var userID: UserID
    /// Who decided it, for the record.
    public var actor: String
    /// Why, for the record.
    public var reason: String

    /// Composes the message.
    public init(app: AppID, userID: UserID, actor: String, reason: String) {
        self.app = app
        self.userID = userID
        self.actor = actor
        self.reason = reason
    }
}

/// The operator's word is on record.
public struct RiskClearAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .riskClearAnswered }
    /// True if the app has no such user, so that nothing was cleared.
    public var isUnknownUser: Bool?

    /// Composes the answer.
    public init(isUnknownUser: Bool? = nil) { self.isUnknownUser = isUnknownUser }
}

/// An operator has lifted the limits that refunds set a customer.
public struct RiskCleared: Message {
    /// Routing key.
    public static var type: MessageType { .riskCleared }
    /// Whom.
    public var customer: CustomerID
    /// Who decided it. Why is on record in Granting only: people write names into reasons.
    public var actor: String

    /// Composes the message.
    public init(customer: CustomerID, actor: String) {
        self.customer = customer
        self.actor = actor
    }
}
