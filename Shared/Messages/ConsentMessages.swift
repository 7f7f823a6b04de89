/// A user allows, or forbids from now on, that Apple is told how much of a purchase they used when they ask Apple for a
/// refund.
public struct ConsentChangeRequested: Message {
    /// Routing key.
    public static var type: MessageType { .consentChangeRequested }
    /// The app.
    public var app: AppID
    /// Who decides.
    public var userID: UserID
    /// Given or withdrawn.
    public var isGiven: Bool
    /// What they agreed to, in the app's own words for it, such as the date of its terms.
    public var termsVersion: String?

    /// Composes the message.
    public init(app: AppID, userID: UserID, isGiven: Bool, termsVersion: String?) {
        self.app = app
        self.userID = userID
        self.isGiven = isGiven
        self.termsVersion = termsVersion
    }
}

/// A customer's word about it is on record.
public struct ConsentChanged: Message {
    /// Routing key.
    public static var type: MessageType { .consentChanged }
    /// Whose word.
    public var customer: CustomerID
    /// Which of their words it is, from 1.
    public var revision: Int64
    /// Given or withdrawn.
    public var isGiven: Bool
    /// What it was given to.
    public var termsVersion: String?
    /// When they said it (ms since 1970).
    public var requestedAt: Int64
    /// Which user that is, as in ``PurchaseGranted/userDigest``.
    public var userDigest: String?

    /// Composes the message.
    public init(
        customer: CustomerID, revision: Int64, isGiven: Bool, termsVersion: String?, requestedAt: Int64,
        userDigest: String? = nil
    ) {
        self.customer = customer
        self.revision = revision
        self.isGiven = isGiven
        self.termsVersion = termsVersion
        self.requestedAt = requestedAt
        self.userDigest = userDigest
    }
}

/// Question: what a user has decided about it.
public struct ConsentRequested: Message {
    /// Routing key.
    public static var type: MessageType { .consentRequested }
    /// The app.
    public var app: AppID
    /// Whose.
    public var userID: UserID

    /// Composes the question.
    public init(app: AppID, userID: UserID) {
        self.app = app
        self.userID = userID
    }
}

/// A user's word in force.
public struct ConsentAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .consentAnswered }
    /// Whether consent is given.
    public var isGiven: Bool
    /// What it was given to.
    public var termsVersion: String?
    /// When the user decided so (ms since 1970); nil if they never said anything.
    public var changedAt: Int64?

    /// Composes the answer.
    public init(isGiven: Bool, termsVersion: String?, changedAt: Int64?) {
        self.isGiven = isGiven
        self.termsVersion = termsVersion
        self.changedAt = changedAt
    }
}
