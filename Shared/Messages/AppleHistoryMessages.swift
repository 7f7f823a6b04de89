/// Names a notification among all there are.
public struct NotificationKey: Codable, Sendable, Hashable, CustomStringConvertible {
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// Apple's id, lower-case UUID text.
    public var notificationUUID: String

    /// Composes the key.
    public init(environment: StoreEnvironment, notificationUUID: String) {
        self.environment = environment
        self.notificationUUID = notificationUUID
    }

    /// `Production/550e8400-e29b-41d4-a716-446655440000`.
    public var description: String { "\(environment.rawValue)/\(notificationUUID)" }
}

/// Which of these notifications have come in?
public struct NotificationStatesRequested: Message {
    /// Routing key.
    public static var type: MessageType { .notificationStatesRequested }
    /// Notifications at most in one question: an answer stays below 64 kB.
    public static let mostKeys = 500
    /// The notifications.
    public var keys: [NotificationKey]

    /// Composes the question.
    public init(keys: [NotificationKey]) { self.keys = keys }
}

/// What Intake has of a notification.
public struct NotificationState: Codable, Sendable, Equatable {
    /// Which one.
    public var key: NotificationKey
    /// When it was stored (ms since 1970); nil: it never came, or was refused.
    public var storedAt: Int64?

    /// Composes the state.
    public init(key: NotificationKey, storedAt: Int64?) {
        self.key = key
        self.storedAt = storedAt
    }
}

/// Which notifications have come in.
public struct NotificationStatesAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .notificationStatesAnswered }
    /// One for each that was asked for.
    public var states: [NotificationState]

    /// Composes the answer.
    public init(states: [NotificationState]) { self.states = states }
}

/// Apple has shown a transaction that the books lack: verified and decided like one that a client hands in, but for
/// nobody. Who owns it is proved by its token, or by what is known of it, or it waits for its buyer.
public struct TransactionReceived: Message {
    /// Routing key.
    public static var type: MessageType { .transactionReceived }
    /// The app in whose name Apple was asked.
    public var app: AppID
    /// The JWS. Travels only to the service that verifies it.
    public var signedTransaction: String

    /// Composes the message.
    public init(app: AppID, signedTransaction: String) {
        self.app = app
        self.signedTransaction = signedTransaction
    }
}
