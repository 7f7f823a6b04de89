import Messages

/// A verified purchase to be decided, its user already resolved to a customer.
struct Submission: Sendable {
    /// The message.
    var cause: MessageID
    /// The app whose bundle id Apple signed.
    var app: AppID
    /// Who handed it in; nil when it was fed by reconciliation or by Apple.
    var caller: CustomerID?
    /// The order they named.
    var orderNumber: OrderNumber?
    /// What Apple signed.
    var transaction: VerifiedTransaction
    /// The notification that brought it.
    var notification: NotificationSource?
    /// What the client says it is.
    var expectation: PurchaseExpectation?
    /// Who the caller is to starter offers.
    var identities: [IdentityHash]?

    /// Whether it may deliver a purchase that nobody has claimed: all but notifications that only tell.
    var isClaim: Bool { notification.map { $0.type.effect == .claims } ?? true }
}

/// What became of a submission.
struct PurchaseDecision: Sendable, Equatable {
    /// For the caller; nil if there is none.
    var answer: PurchaseAnswered?
    /// For everybody.
    var announcements: [Announcement] = []
}

/// An order to be made.
struct OrderCase: Sendable {
    /// The message.
    var cause: MessageID
    /// Who asks.
    var customer: CustomerID
    /// What they ask for.
    var request: OrderRequested
}

/// What became of it.
struct OrderDecision: Sendable, Equatable {
    /// For the caller.
    var answer: OrderAnswered
    /// For everybody.
    var announcements: [Announcement] = []
}

/// A spend to be decided.
struct SpendCase: Sendable {
    /// The message.
    var cause: MessageID
    /// Whose wallet.
    var customer: CustomerID
    /// What is asked for.
    var request: SpendRequested
}

/// What became of it.
struct SpendDecision: Sendable, Equatable {
    /// For the caller.
    var answer: SpendAnswered
    /// For everybody.
    var announcements: [Announcement] = []
}

/// What became of a word about consent.
struct ConsentDecision: Sendable, Equatable {
    /// For the caller.
    var answer: ConsentAnswered
    /// For everybody.
    var announcements: [Announcement] = []
}

/// A word about consent to be put on record.
struct ConsentCase: Sendable {
    /// The message.
    var cause: MessageID
    /// Whose.
    var customer: CustomerID
    /// What they say.
    var request: ConsentChangeRequested
    /// When they said it (ms since 1970, the asker's clock).
    var requestedAt: Int64
}
