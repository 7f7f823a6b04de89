/// Everything about a message that is not its content.
public struct MessageHeader: Sendable, Equatable {
    /// Unique; deterministic for facts, random for requests.
    public var id: MessageID
    /// What kind of body follows.
    public var type: MessageType
    /// The schema version of the body.
    public var version: Int
    /// When it came to be, milliseconds since 1970 UTC.
    public var occurredAt: Int64
    /// One id from the HTTP request to the last consequence (server-made UUID text).
    public var correlationID: String
    /// The message that caused this one; nil for what a person or client began.
    public var causationID: MessageID?
    /// The app it speaks of, where known.
    public var app: AppID?
    /// Apple's environment, where known.
    public var environment: StoreEnvironment?
    /// Where the asker waits for the answer (routing key on `purser.replies`), if anybody waits.
    public var replyTo: String?
    /// How often a lane has already sent it to the retry ladder.
    public var attempt: Int

    /// Composes a header.
    public init(
        id: MessageID, type: MessageType, version: Int, occurredAt: Int64, correlationID: String,
        causationID: MessageID? = nil, app: AppID? = nil, environment: StoreEnvironment? = nil, replyTo: String? = nil,
        attempt: Int = 0
    ) {
        self.id = id
        self.type = type
        self.version = version
        self.occurredAt = occurredAt
        self.correlationID = correlationID
        self.causationID = causationID
        self.app = app
        self.environment = environment
        self.replyTo = replyTo
        self.attempt = attempt
    }
}

/// The names of our AMQP headers. Standard properties carry id, type, correlation id, reply-to and time in seconds.
public enum HeaderName {
    /// Schema version of the body (integer).
    public static let schemaVersion = "schema-version"
    /// Milliseconds since 1970 (integer); the AMQP timestamp has whole seconds only.
    public static let occurredAt = "occurred-at"
    /// Id of the causing message (text).
    public static let causationID = "causation-id"
    /// App id (text).
    public static let app = "app"
    /// `Production` or `Sandbox` (text).
    public static let environment = "environment"
    /// How often the message has been through the retry ladder (integer).
    public static let attempt = "x-attempt"
    /// Why a message was parked or retried (text, free of payloads).
    public static let reason = "x-reason"
    /// The routing key a retried or parked message last came by (text).
    public static let originalRoutingKey = "x-original-routing-key"
}
