/// Apple has called one of our notification addresses. Unverified: it proves nothing yet.
public struct NotificationReceived: Message {
    /// Routing key.
    public static var type: MessageType { .notificationReceived }
    /// The app whose address was called; the signed bundle id decides whether that is right.
    public var app: AppID
    /// The JWS, up to 256 KiB. Travels only to the service that verifies it.
    public var signedPayload: String

    /// Composes the message.
    public init(app: AppID, signedPayload: String) {
        self.app = app
        self.signedPayload = signedPayload
    }
}

/// A genuine notification, told once per (environment, notificationUUID), and again when it is re-driven. Only
/// NotificationIntake may say so (broker permissions). Its routing key follows Apple's type.
public struct NotificationVerified: Message {
    /// The form of the body; the routing key of a message is its ``messageType``.
    public static var type: MessageType { MessageType(rawValue: "notification.verified") }
    /// The routing key that follows from ``notificationType``.
    public var messageType: MessageType { .notification(notificationType) }
    /// Every kind of notification has this body.
    public static func isBody(of type: MessageType) -> Bool { MessageType.notifications.contains(type) }

    /// The app that the signed bundle id belongs to.
    public var app: AppID
    /// Production or Sandbox, from the signed claim.
    public var environment: StoreEnvironment
    /// Apple's id, lower-case UUID text; the same for each repetition.
    public var notificationUUID: String
    /// Apple's text, whatever it is.
    public var notificationType: String
    /// Apple's text.
    public var subtype: String?
    /// When the notification was signed (ms since 1970); of its parts each has its own.
    public var signedDate: Int64
    /// The purchase it speaks of.
    public var transaction: VerifiedTransaction?
    /// The subscription's next renewal.
    public var renewal: VerifiedRenewal?
    /// Apple's `data.status`: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked, or newer.
    public var subscriptionStatus: Int64?
    /// Why the customer asks for money back (CONSUMPTION_REQUEST).
    public var consumptionRequestReason: String?

    /// Composes the required part; optional fields are set afterwards.
    public init(
        app: AppID, environment: StoreEnvironment, notificationUUID: String, notificationType: String,
        signedDate: Int64
    ) {
        self.app = app
        self.environment = environment
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.signedDate = signedDate
    }
}

/// What Apple signed about the next renewal of a subscription, flattened. Times are milliseconds since 1970 UTC.
///
/// Field meanings: Apple, JWSRenewalInfoDecodedPayload. A register of its own beside transactions: the newest
/// `signedDate` of (environment, originalTransactionID) is in force.
public struct VerifiedRenewal: Codable, Sendable, Equatable {
    /// Production or Sandbox, from the signed claim.
    public var environment: StoreEnvironment
    /// The subscription.
    public var originalTransactionID: TransactionID
    /// Product of this period.
    public var productID: ProductID?
    /// Product of the next period.
    public var autoRenewProductID: ProductID?
    /// 0 off, 1 on.
    public var autoRenewStatus: Int64?
    /// 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 not available, 5 other, or newer.
    public var expirationIntent: Int64?
    /// Whether Apple still tries to collect.
    public var isInBillingRetryPeriod: Bool?
    /// End of the grace period.
    public var gracePeriodExpiresDate: Int64?
    /// When it renews.
    public var renewalDate: Int64?
    /// When Apple signed this statement; newer statements win.
    public var signedDate: Int64
    /// SHA-256 of the signed payload bytes, hex; breaks ties between statements of one millisecond.
    public var payloadHash: String

    /// Composes the required part; optional fields are set afterwards.
    public init(
        environment: StoreEnvironment, originalTransactionID: TransactionID, signedDate: Int64, payloadHash: String
    ) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
        self.signedDate = signedDate
        self.payloadHash = payloadHash
    }
}

/// Tell stored notifications again, each as a new message, to be decided anew.
public struct NotificationRedriveRequested: Message {
    /// Routing key.
    public static var type: MessageType { .notificationRedriveRequested }
    /// These (lower-case UUID text); empty: chosen by the other fields.
    public var notificationUUIDs: [String]
    /// Of this environment only.
    public var environment: StoreEnvironment?
    /// Apple's types; empty: those of every type that this version knows and the version that stored them did not.
    public var notificationTypes: [String]
    /// Who asked, for the record.
    public var actor: String
    /// Count what would be told, tell nothing.
    public var isDryRun: Bool
    /// Go on where an answer's ``NotificationRedriveAnswered/next`` ended; nil: from the oldest.
    public var after: Int64?

    /// Composes the message.
    public init(
        notificationUUIDs: [String], environment: StoreEnvironment?, notificationTypes: [String], actor: String,
        isDryRun: Bool
    ) {
        self.notificationUUIDs = notificationUUIDs
        self.environment = environment
        self.notificationTypes = notificationTypes
        self.actor = actor
        self.isDryRun = isDryRun
    }
}

/// How many notifications were told again.
public struct NotificationRedriveAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .notificationRedriveAnswered }
    /// Told, or in a dry run: to be told.
    public var count: Int64
    /// Asked for by UUID and not stored.
    public var unknown: [String]
    /// Stored, and not told: they do not pass the verification of today (an app or a root is no longer configured).
    public var refused: [String]?
    /// There may be more: ask again with this in ``NotificationRedriveRequested/after``. Nil: that was all.
    public var next: Int64?

    /// Composes the required part; optional fields are set afterwards.
    public init(count: Int64, unknown: [String]) {
        self.count = count
        self.unknown = unknown
    }
}
