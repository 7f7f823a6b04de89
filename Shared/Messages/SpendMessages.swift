/// An app's own server asks to spend from a user's wallet.
public struct SpendRequested: Message {
    /// Routing key.
    public static var type: MessageType { .spendRequested }
    /// The app.
    public var app: AppID
    /// Whose wallet.
    public var userID: UserID
    /// What to spend.
    public var asset: AssetID
    /// How much, at least 1.
    public var amount: Int64
    /// The caller's id of this spend (a session, an order): decided once, the same answer ever after.
    public var sourceID: String
    /// After this instant (ms since 1970) the spend is refused.
    public var deadline: Int64

    /// Composes the message.
    public init(app: AppID, userID: UserID, asset: AssetID, amount: Int64, sourceID: String, deadline: Int64) {
        self.app = app
        self.userID = userID
        self.asset = asset
        self.amount = amount
        self.sourceID = sourceID
        self.deadline = deadline
    }
}

/// How a spend was decided. Final.
public enum SpendOutcome: String, Codable, Sendable {
    /// Taken from the wallet.
    case spent
    /// The wallet held less.
    case notEnough = "not_enough"
    /// The deadline had passed.
    case deadlinePassed = "deadline_passed"
    /// Too many refunds: the app's policy lets the customer spend nothing now.
    case restricted
    /// The app has no such asset.
    case unknownAsset = "unknown_asset"
}

/// A spend was decided.
public struct SpendDecided: Message {
    /// Routing key.
    public static var type: MessageType { .spendDecided }
    /// Whose wallet.
    public var customer: CustomerID
    /// The caller's id.
    public var sourceID: String
    /// What.
    public var asset: AssetID
    /// How much was asked for.
    public var amount: Int64
    /// The decision.
    public var outcome: SpendOutcome
    /// The asset's balance after the decision.
    public var balanceAfter: Int64
    /// Which user that is: a hash under a key that only Granting's database has. By it a customer is found again whose row
    /// was lost; absent where there is no user, and in facts of before.
    public var userDigest: String?

    /// Composes the message.
    public init(
        customer: CustomerID, sourceID: String, asset: AssetID, amount: Int64, outcome: SpendOutcome,
        balanceAfter: Int64, userDigest: String? = nil
    ) {
        self.customer = customer
        self.sourceID = sourceID
        self.asset = asset
        self.amount = amount
        self.outcome = outcome
        self.balanceAfter = balanceAfter
        self.userDigest = userDigest
    }
}

/// The answer to a spend request.
public struct SpendAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .spendAnswered }
    /// The decision; nil when `code` is `SPEND_CONFLICT`.
    public var outcome: SpendOutcome?
    /// The stable code when not spent.
    public var code: AnswerCode?
    /// The decided spend.
    public var asset: AssetID?
    /// Its amount.
    public var amount: Int64?
    /// The asset's balance right after the decision (not now, when the answer is a repeat).
    public var balanceAfter: Int64?

    /// Composes the answer.
    public init(outcome: SpendOutcome?, code: AnswerCode?, asset: AssetID?, amount: Int64?, balanceAfter: Int64?) {
        self.outcome = outcome
        self.code = code
        self.asset = asset
        self.amount = amount
        self.balanceAfter = balanceAfter
    }
}
