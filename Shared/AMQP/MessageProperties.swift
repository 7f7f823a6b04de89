/// The properties of a message that Purser uses (AMQP 0-9-1, class basic). `user-id` stays unset: one that differs from
/// the login closes the channel.
public struct MessageProperties: Sendable, Equatable {
    /// Identifies the message; copies of one message share it.
    public var messageID: String?
    /// The kind of message, equal to the routing key it was first published with.
    public var type: String?
    /// Ties an answer to its request.
    public var correlationID: String?
    /// Where an answer goes.
    public var replyTo: String?
    /// MIME type of the body.
    public var contentType: String?
    /// The application that sent it.
    public var appID: String?
    /// Seconds since 1970.
    public var timestamp: Int64?
    /// Milliseconds until the message expires in its queue, as decimal digits (anything else closes the channel).
    public var expiration: String?
    /// Whether it survives a broker's restart (delivery mode 2).
    public var isPersistent: Bool
    /// Everything else.
    public var headers: [String: AMQPHeaderValue]

    /// Properties; whatever is not given stays unset, and the message is persistent.
    public init(
        messageID: String? = nil, type: String? = nil, correlationID: String? = nil, replyTo: String? = nil,
        contentType: String? = nil, appID: String? = nil, timestamp: Int64? = nil, expiration: String? = nil,
        isPersistent: Bool = true, headers: [String: AMQPHeaderValue] = [:]
    ) {
        self.messageID = messageID
        self.type = type
        self.correlationID = correlationID
        self.replyTo = replyTo
        self.contentType = contentType
        self.appID = appID
        self.timestamp = timestamp
        self.expiration = expiration
        self.isPersistent = isPersistent
        self.headers = headers
    }
}
