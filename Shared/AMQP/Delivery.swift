/// A message as it was delivered to a consumer.
public struct Delivery: Sendable, Equatable {
    /// What `Consumer.acknowledge` takes. It carries the number of its connection in its upper bits, so that a delivery
    /// of an older connection can never acknowledge a message of a newer one. Rises within a connection.
    public var tag: UInt64
    /// The exchange it was published to.
    public var exchange: String
    /// The routing key it was published with.
    public var routingKey: String
    /// Whether it was delivered, or may have been delivered, before.
    public var isRedelivered: Bool
    /// Its properties.
    public var properties: MessageProperties
    /// Its content.
    public var body: [UInt8]

    /// A delivery from its parts; consumers make them, tests may.
    public init(
        tag: UInt64, exchange: String, routingKey: String, isRedelivered: Bool, properties: MessageProperties,
        body: [UInt8]
    ) {
        self.tag = tag
        self.exchange = exchange
        self.routingKey = routingKey
        self.isRedelivered = isRedelivered
        self.properties = properties
        self.body = body
    }
}
