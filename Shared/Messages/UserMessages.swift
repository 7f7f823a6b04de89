/// An operator has a person forgotten: what names them is taken out, the books stay. Two services act on it: Granting, and
/// Verification, which knows who handed things in.
public struct UserEraseRequested: Message {
    /// Routing key.
    public static var type: MessageType { .userEraseRequested }
    /// The app.
    public var app: AppID
    /// Whom.
    public var userID: UserID
    /// What they were called before, as guests (``UserTransferRequested``): those names go too.
    public var formerIDs: [UserID]
    /// Who decided it, for the record.
    public var actor: String
    /// Why, for the record. It is kept: it must not name the person.
    public var reason: String

    /// Composes the message.
    public init(app: AppID, userID: UserID, formerIDs: [UserID], actor: String, reason: String) {
        self.app = app
        self.userID = userID
        self.formerIDs = formerIDs
        self.actor = actor
        self.reason = reason
    }
}

/// The user is erased in Granting.
public struct UserEraseAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .userEraseAnswered }
    /// Under what the books stay; nil: the app had no such user there.
    public var customer: CustomerID?

    /// Composes the answer.
    public init(customer: CustomerID?) { self.customer = customer }
}

/// A customer is nobody any more.
public struct UserErased: Message {
    /// Routing key.
    public static var type: MessageType { .userErased }
    /// Whose user is erased.
    public var customer: CustomerID
    /// Who decided it.
    public var actor: String

    /// Composes the message.
    public init(customer: CustomerID, actor: String) {
        self.customer = customer
        self.actor = actor
    }
}

/// Verification asks itself to go on taking a user out of what it keeps: it looks at a bounded number of rows at a time.
public struct EvidenceEraseRequested: Message {
    /// Routing key.
    public static var type: MessageType { .evidenceEraseRequested }
    /// The request it belongs to. Whom it is about is kept in Verification's tables, and only until it is done.
    public var erasure: MessageID
    /// How far it has come: a sequence number of `verification.facts`.
    public var after: Int64
    /// Where it ends: what comes later never names the user.
    public var last: Int64

    /// Composes the message.
    public init(erasure: MessageID, after: Int64, last: Int64) {
        self.erasure = erasure
        self.after = after
        self.last = last
    }
}

/// A guest has registered: the guest's wallet is the registered user's from now on.
public struct UserTransferRequested: Message {
    /// Routing key.
    public static var type: MessageType { .userTransferRequested }
    /// The app.
    public var app: AppID
    /// The guest.
    public var fromUserID: UserID
    /// The registered user.
    public var toUserID: UserID
    /// The asker's number of this transfer (UUID text): the same number gets the same answer, for ever.
    public var requestID: String
    /// Who decided it, for the record.
    public var actor: String
    /// Why, for the record.
    public var reason: String

    /// Composes the message.
    public init(
        app: AppID, fromUserID: UserID, toUserID: UserID, requestID: String, actor: String, reason: String
    ) {
        self.app = app
        self.fromUserID = fromUserID
        self.toUserID = toUserID
        self.requestID = requestID
        self.actor = actor
        self.reason = reason
    }
}

/// What became of a transfer.
public enum TransferOutcome: String, Codable, Sendable, CaseIterable {
    /// The wallet is the registered user's.
    case transferred
    /// The app has no such guest.
    case unknownGuest = "unknown_guest"
    /// The registered user has books of their own: two wallets are never merged.
    case userHasBooks = "user_has_books"
    /// This number was used for another transfer.
    case requestConflict = "request_conflict"
}

/// The answer to a transfer.
public struct UserTransferAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .userTransferAnswered }
    /// How it ended.
    public var outcome: TransferOutcome

    /// Composes the answer.
    public init(outcome: TransferOutcome) { self.outcome = outcome }
}

/// A guest's wallet has become a registered user's.
public struct UserTransferred: Message {
    /// Routing key.
    public static var type: MessageType { .userTransferred }
    /// Whose.
    public var customer: CustomerID
    /// Who decided it.
    public var actor: String
    /// Who it is now, as in ``OrderCreated/userDigest``.
    public var userDigest: String?

    /// Composes the message.
    public init(customer: CustomerID, actor: String, userDigest: String? = nil) {
        self.customer = customer
        self.actor = actor
        self.userDigest = userDigest
    }
}
