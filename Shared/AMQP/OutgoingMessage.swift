/// A message to be published.
public struct OutgoingMessage: Sendable, Equatable {
    /// The exchange it goes to.
    public var exchange: String
    /// The routing key.
    public var routingKey: String
    /// Whether it must reach at least one queue; if not, it comes back (`PublishOutcome.returned`).
    public var isMandatory: Bool
    /// Whether `publish` waits until the broker has taken it. Without, losing it must be harmless.
    public var awaitsConfirm: Bool
    /// Its properties. A mandatory message needs a message id: a return is matched by it.
    public var properties: MessageProperties
    /// Its content.
    public var body: [UInt8]

    /// A message; mandatory and confirmed unless said otherwise.
    public init(
        exchange: String, routingKey: String, isMandatory: Bool = true, awaitsConfirm: Bool = true,
        properties: MessageProperties = .init(), body: [UInt8]
    ) {
        self.exchange = exchange
        self.routingKey = routingKey
        self.isMandatory = isMandatory
        self.awaitsConfirm = awaitsConfirm
        self.properties = properties
        self.body = body
    }
}
