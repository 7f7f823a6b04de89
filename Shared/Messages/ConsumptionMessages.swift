/// What an app would rather have when a customer asks Apple for a refund.
public enum RefundPreference: String, Codable, Sendable, CaseIterable {
    /// No refund.
    case decline
    /// All of the money.
    case grantFull = "grant_full"
    /// The part that was not used.
    case grantProrated = "grant_prorated"
}

/// How an app answers Apple's questions about the use of a purchase; an app without such a policy answers none.
public struct ConsumptionPolicy: Codable, Sendable, Equatable {
    /// What Apple is told that the app would rather have; nil: nothing.
    public var preference: RefundPreference?
    /// Whether customers can try what is sold before they buy it.
    public var isSampleProvided: Bool

    /// Composes the policy.
    public init(preference: RefundPreference?, isSampleProvided: Bool) {
        self.preference = preference
        self.isSampleProvided = isSampleProvided
    }
}

/// Question: what Apple may be told about a purchase whose customer asks for a refund. Asked right before Apple is
/// told, because consent and use change.
public struct ConsumptionAssessmentRequested: Message {
    /// Routing key.
    public static var type: MessageType { .consumptionAssessmentRequested }
    /// The app whose bundle id Apple signed.
    public var app: AppID
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The purchase.
    public var transactionID: TransactionID

    /// Composes the question.
    public init(app: AppID, environment: StoreEnvironment, transactionID: TransactionID) {
        self.app = app
        self.environment = environment
        self.transactionID = transactionID
    }
}

/// What the books say about a purchase. Only what ``hasConsented`` allows may leave the deployment.
public struct ConsumptionAssessed: Message {
    /// Routing key of the type.
    public static var type: MessageType { .consumptionAssessmentAnswered }
    /// Whether the app's policy answers Apple at all.
    public var isAnswered: Bool
    /// Whether it is known whose purchase it is.
    public var isOwned: Bool
    /// Whether its owner's consent is in force.
    public var hasConsented: Bool
    /// Whether it was delivered.
    public var isDelivered: Bool
    /// Apple's type of the product.
    public var productType: String?
    /// The spent share of what this purchase granted, in milliunits of per cent (0…100,000); nil where use is not
    /// measured (a product without assets) or Apple does not want it (auto-renewable subscriptions).
    public var consumedShare: Int64?
    /// Whether customers could try it before.
    public var isSampleProvided: Bool
    /// What the app would rather have.
    public var preference: RefundPreference?
    /// The token of the purchase, lower-case UUID text.
    public var appAccountToken: String?
    /// The owner's delivered purchases in this environment.
    public var purchases: Int64
    /// Of them, those that Apple took back, at least in part.
    public var refunds: Int64
    /// Of these, the ones of the last 30 days.
    public var recentRefunds: Int64
    /// Whether the recent ones reach the limit from which the app wants somebody to look.
    public var isUnderReview: Bool
    /// What the owner paid in this environment, in thousandths of a US dollar; nil unless all of it was dollars.
    public var dollarsPurchased: Int64?
    /// What of it was refunded.
    public var dollarsRefunded: Int64?

    /// What is known of a purchase that nobody has brought yet; the rest is set afterwards.
    public init(isAnswered: Bool) {
        self.isAnswered = isAnswered
        isOwned = false
        hasConsented = false
        isDelivered = false
        isSampleProvided = false
        purchases = 0
        refunds = 0
        recentRefunds = 0
        isUnderReview = false
    }
}

/// Question: consumption requests of Apple that are still to be answered and whose time runs out, and those that ran out
/// of it lately. What waited for its customer's word is not told: that is nobody's fault.
public struct ConsumptionDeadlinesRequested: Message {
    /// Routing key.
    public static var type: MessageType { .consumptionDeadlinesRequested }
    /// Requests at most in one answer, the most urgent first.
    public static let mostRequests = 500
    /// Of those that wait: Apple's time for them ends before this (ms since 1970).
    public var before: Int64
    /// Of those that Apple has waited for in vain: they ended after this (ms since 1970).
    public var endedAfter: Int64

    /// Composes the question.
    public init(before: Int64, endedAfter: Int64) {
        self.before = before
        self.endedAfter = endedAfter
    }
}

/// A consumption request that waits, or has waited in vain.
public struct ConsumptionDeadline: Codable, Sendable, Equatable {
    /// The app whose bundle id Apple signed.
    public var app: AppID
    /// The notification that asked.
    public var key: NotificationKey
    /// The purchase that is asked about.
    public var transactionID: TransactionID
    /// Until when Apple waits (ms since 1970).
    public var deadline: Int64
    /// What it waits for, or waited for, by its stable name.
    public var reason: String
    /// Whether Apple waits no more.
    public var isOver: Bool

    /// Composes it.
    public init(
        app: AppID, key: NotificationKey, transactionID: TransactionID, deadline: Int64, reason: String, isOver: Bool
    ) {
        self.app = app
        self.key = key
        self.transactionID = transactionID
        self.deadline = deadline
        self.reason = reason
        self.isOver = isOver
    }
}

/// Consumption requests whose time runs out.
public struct ConsumptionDeadlinesAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .consumptionDeadlinesAnswered }
    /// At most ``ConsumptionDeadlinesRequested/mostRequests``, the most urgent first.
    public var requests: [ConsumptionDeadline]

    /// Composes the answer.
    public init(requests: [ConsumptionDeadline]) { self.requests = requests }
}
