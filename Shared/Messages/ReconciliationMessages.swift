/// Names a purchase among all there are.
public struct PurchaseKey: Codable, Sendable, Hashable, CustomStringConvertible {
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// Apple's id.
    public var transactionID: TransactionID

    /// Composes the key.
    public init(environment: StoreEnvironment, transactionID: TransactionID) {
        self.environment = environment
        self.transactionID = transactionID
    }

    /// `Production/2000000888888888`.
    public var description: String { "\(environment.rawValue)/\(transactionID)" }
}

/// What Verification has said, in the order it said it: a page.
public struct EvidencePageRequested: Message {
    /// Routing key.
    public static var type: MessageType { .evidencePageRequested }
    /// Where the last page ended; 0: from the beginning.
    public var after: Int64
    /// Nothing that was said at this time or later (ms since 1970): younger things may still be on their way.
    public var before: Int64
    /// Entries at most.
    public var limit: Int64

    /// Composes the question.
    public init(after: Int64, before: Int64, limit: Int64) {
        self.after = after
        self.before = before
        self.limit = limit
    }
}

/// A purchase that was verified. Without the user: whoever compares books needs no persons.
public struct EvidenceEntry: Codable, Sendable, Equatable {
    /// The app.
    public var app: AppID
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The purchase.
    public var transactionID: TransactionID
    /// The order its submitter named.
    public var orderNumber: OrderNumber?
    /// Whether somebody was logged in who handed it in.
    public var hasSubmitter: Bool
    /// When Verification said it (ms since 1970).
    public var verifiedAt: Int64
    /// What Apple signed; nil where only what became of the purchase matters.
    public var statement: PurchaseStatement?

    /// Composes the entry.
    public init(
        app: AppID, environment: StoreEnvironment, transactionID: TransactionID, orderNumber: OrderNumber?,
        hasSubmitter: Bool, verifiedAt: Int64, statement: PurchaseStatement? = nil
    ) {
        self.app = app
        self.environment = environment
        self.transactionID = transactionID
        self.orderNumber = orderNumber
        self.hasSubmitter = hasSubmitter
        self.verifiedAt = verifiedAt
        self.statement = statement
    }

    /// Its key.
    public var key: PurchaseKey { PurchaseKey(environment: environment, transactionID: transactionID) }
}

/// A page of what was verified.
public struct EvidencePageAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .evidencePageAnswered }
    /// In the order they were said; of a receipt one for each purchase.
    public var entries: [EvidenceEntry]
    /// Where the page ends: the next question's `after`.
    public var last: Int64
    /// Whether there may be more.
    public var hasMore: Bool

    /// Composes the page.
    public init(entries: [EvidenceEntry], last: Int64, hasMore: Bool) {
        self.entries = entries
        self.last = last
        self.hasMore = hasMore
    }
}

/// Say a verified purchase again, as a new message, for whoever handed it in: Granting decides it anew. Of a purchase
/// that is decided nothing changes.
public struct EvidenceRedriveRequested: Message {
    /// Routing key.
    public static var type: MessageType { .evidenceRedriveRequested }
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The purchase.
    public var transactionID: TransactionID
    /// Who asked, for the record: `reconciliation`, or an operator's name.
    public var actor: String
    /// Why, for the record.
    public var reason: String

    /// Composes the request.
    public init(environment: StoreEnvironment, transactionID: TransactionID, actor: String, reason: String) {
        self.environment = environment
        self.transactionID = transactionID
        self.actor = actor
        self.reason = reason
    }
}

/// An operator has a verified purchase decided anew. By the same rules as everybody's: what is granted, refunded or
/// another's stays so. The answer is Granting's (``PurchaseAnswered``).
public struct RegrantRequested: Message {
    /// Routing key.
    public static var type: MessageType { .regrantRequested }
    /// The operator's own id of the request (UUID text): one entry in the record, however often it is sent.
    public var requestID: String
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The purchase.
    public var transactionID: TransactionID
    /// For whom; nil: for whoever handed it in.
    public var userID: UserID?
    /// Who asked, for the record.
    public var actor: String
    /// Why, for the record.
    public var reason: String

    /// Composes the request.
    public init(
        requestID: String, environment: StoreEnvironment, transactionID: TransactionID, userID: UserID?,
        actor: String, reason: String
    ) {
        self.requestID = requestID
        self.environment = environment
        self.transactionID = transactionID
        self.userID = userID
        self.actor = actor
        self.reason = reason
    }
}

/// What became of these purchases?
public struct PurchaseStatesRequested: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseStatesRequested }
    /// Purchases at most in one question: an answer stays below 64 kB.
    public static let mostKeys = 500
    /// The purchases.
    public var keys: [PurchaseKey]
    /// Whether the books' own account of each is wanted too.
    public var withDetails: Bool?

    /// Composes the question.
    public init(keys: [PurchaseKey], withDetails: Bool? = nil) {
        self.keys = keys
        self.withDetails = withDetails
    }
}

/// What became of a purchase.
public struct PurchaseState: Codable, Sendable, Equatable {
    /// How Granting has decided.
    public enum Outcome: String, Codable, Sendable, CaseIterable {
        /// Granting has never heard of it.
        case unknown
        /// In a wallet, or among entitlements; also restored ones.
        case granted
        /// Waits for a reason.
        case held
        /// Waits for an owner.
        case unclaimed
        /// Wholly refunded.
        case refunded
        /// Beside another one of the same chain, which was delivered.
        case beside
    }

    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The purchase.
    public var transactionID: TransactionID
    /// What became of it.
    public var outcome: Outcome
    /// Why it is held.
    public var reason: HeldReason?
    /// The books' own account of it, where that was asked for.
    public var details: PurchaseDetails?
    /// When the newest statement that Granting knows was signed (ms since 1970); nil if it knows none.
    public var signedDate: Int64?
    /// How much of the purchase that statement takes back (0…100,000 milliunits).
    public var revokedShare: Int64?

    /// Composes the state; what is known of the statement is set afterwards.
    public init(key: PurchaseKey, outcome: Outcome, reason: HeldReason? = nil) {
        environment = key.environment
        transactionID = key.transactionID
        self.outcome = outcome
        self.reason = reason
    }

    /// Its key.
    public var key: PurchaseKey { PurchaseKey(environment: environment, transactionID: transactionID) }
}

/// What became of purchases.
public struct PurchaseStatesAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .purchaseStatesAnswered }
    /// One for each that was asked for.
    public var states: [PurchaseState]

    /// Composes the answer.
    public init(states: [PurchaseState]) { self.states = states }
}
