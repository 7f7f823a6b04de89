import JSON
import Messages

/// What Apple has signed and the books lack.
struct AppleFeed: Equatable {
    /// The finding it belongs to; with ``subject`` its key.
    let kind: FindingKind
    /// Environment and id.
    let subject: String
    let app: AppID
    let environment: StoreEnvironment
    /// The notification, if it is one.
    let notification: NotificationKey?
    /// The purchase it speaks of.
    let purchase: PurchaseKey?
    /// When the statement about the purchase was signed (ms since 1970); nil if Granting need not know it.
    let signedDate: Int64?
    /// Of a signed transaction, how much it takes back, in thousandths of a per cent.
    let revokedShare: Int64?
    /// As Apple signed it.
    let payload: String
    /// How often it was handed in.
    var attempts: Int64 = 0
    /// When it is handed in next, if it is still missed then (ms since 1970).
    var nextAt: Int64 = 0

    /// A notification that never came, or came and was not acted on.
    init(_ notice: AppleNotice, of app: AppID, isStored: Bool) {
        self.init(
            kind: isStored ? .notificationUnapplied : .notificationMissed, subject: notice.key.description, app: app,
            environment: notice.key.environment, notification: notice.key, purchase: notice.transaction?.key,
            signedDate: notice.changesPurchases ? notice.transaction?.signedDate : nil, payload: notice.payload)
    }

    /// A signed transaction whose refund, or which itself, the books may lack.
    init(_ kind: FindingKind, _ statement: AppleStatement, signed payload: String, of app: AppID) {
        self.init(
            kind: kind, subject: statement.key.description, app: app, environment: statement.key.environment,
            notification: nil, purchase: statement.key, signedDate: statement.signedDate, payload: payload,
            revokedShare: statement.revokedShare)
    }

    /// Composes one.
    init(
        kind: FindingKind, subject: String, app: AppID, environment: StoreEnvironment,
        notification: NotificationKey?, purchase: PurchaseKey?, signedDate: Int64?, payload: String,
        revokedShare: Int64? = nil
    ) {
        self.kind = kind
        self.subject = subject
        self.app = app
        self.environment = environment
        self.notification = notification
        self.purchase = purchase
        self.signedDate = signedDate
        self.revokedShare = revokedShare
        self.payload = payload
    }

    /// What is to be done about it, by what the others have.
    enum Remedy: Equatable {
        /// Both agree.
        case none
        /// Intake is given it.
        case notification
        /// Intake tells it again.
        case redrive
        /// Verification is given it, for nobody.
        case transaction
    }

    /// - Parameters:
    ///   - storedAt: when Intake stored the notification; nil: it has not.
    ///   - state: what Granting has of the purchase.
    func remedy(storedAt: Int64?, state: PurchaseState?) -> Remedy {
        guard notification != nil else { return isMissed(state) ? .transaction : .none }
        if storedAt == nil { return .notification }
        return Self.isBehind(state, signedDate) ? .redrive : .none
    }

    /// Whether Granting lacks what a signed transaction says. Apple signs anew whenever it is asked: that a statement is
    /// newer is nothing, that it also takes back another share is a refund that was missed.
    private func isMissed(_ state: PurchaseState?) -> Bool {
        guard let state else { return false }
        guard kind == .refundMissed, state.outcome != .unknown else { return state.outcome == .unknown }
        return Self.isBehind(state, signedDate) && state.revokedShare != revokedShare
    }

    /// Whether Granting's newest statement of a purchase is older than the one signed at `date`.
    static func isBehind(_ state: PurchaseState?, _ date: Int64?) -> Bool {
        guard let state, let date else { return false }
        return state.outcome == .unknown || (state.signedDate ?? .min) < date
    }
}

extension NewFinding {
    /// A notification that Apple has told, and that never came or changed nothing.
    static func notification(_ feed: AppleFeed, _ notice: AppleNotice, now: Int64) -> NewFinding {
        var evidence: JSONObject = [
            "type": .string(notice.type), "signedDate": .integer(notice.signedDate),
            "gapSeconds": .integer(max(0, now - notice.signedDate) / 1_000),
        ]
        if let attempt = notice.lastAttempt { evidence.set("lastAttemptOfApple", .string(attempt)) }
        return NewFinding(
            feed.kind, subject: feed.subject, app: feed.app, purchase: feed.purchase, evidence: evidence)
    }

    /// A refund that Apple lists and Granting does not know.
    static func refund(
        _ feed: AppleFeed, _ statement: AppleStatement, _ state: PurchaseState?, bundleID: String
    ) -> NewFinding {
        var evidence: JSONObject = [
            "toldBy": "refund history", "bundleID": .string(bundleID),
            "outcome": .string((state?.outcome ?? .unknown).rawValue),
            "signedShare": .integer(statement.revokedShare), "knownShare": .integer(state?.revokedShare ?? 0),
        ]
        if let date = statement.revocationDate { evidence.set("refundedAt", .integer(date)) }
        return NewFinding(
            feed.kind, subject: feed.subject, app: feed.app, purchase: feed.purchase, evidence: evidence)
    }
}
