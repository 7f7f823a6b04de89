import Observability

/// How a consumer comes to its queue.
public enum ConsumerSetup: Sendable, Equatable {
    /// The queue exists: services declare nothing.
    case existing
    /// A queue for this connection alone, gone with it, bound to `exchange` under `routingKey`: where answers come back.
    case exclusiveReplyQueue(name: String, exchange: String, routingKey: String)
}

/// Receives messages from one queue, on a connection of its own. One thread owns it; every call may block it.
///
/// After an error is thrown (except `foreignDeliveryTag`) it is finished: what was not acknowledged is delivered again to
/// whoever consumes next. A tag of an older connection is refused, so nothing is ever acknowledged by mistake.
public struct Consumer: ~Copyable {
    /// The queue it consumes.
    public let queue: String
    /// How many messages the broker sends ahead of acknowledgements.
    public private(set) var prefetch: Int

    private var link: Link
    private let arguments: [String: AMQPHeaderValue]
    /// Arrived and not handed out yet; bounded by the prefetch.
    private var arrived: [Delivery] = []
    private var subscriptions = 0
    private var isCancelledByBroker = false

    private init(_ link: consuming Link, queue: String, arguments: [String: AMQPHeaderValue]) {
        self.link = link
        self.queue = queue
        self.arguments = arguments
        prefetch = 0
    }

    /// Connects and subscribes.
    ///
    /// - Parameters:
    ///   - connectionName: shown by the broker's tools.
    ///   - prefetch: 1…65535. `basic.qos` is sent before consuming: it does not act on running consumers.
    ///   - arguments: of `basic.consume`; a stream needs `x-stream-offset` ("first", "next" or a number).
    public static func open(
        _ endpoint: AMQPEndpoint, connectionName: String, queue: String, prefetch: Int,
        arguments: [String: AMQPHeaderValue] = [:], setUp: ConsumerSetup = .existing
    ) throws(AMQPError) -> Consumer {
        let link = try Link.open(endpoint, connectionName: connectionName)
        var name = queue
        if case .exclusiveReplyQueue(let replyQueue, _, _) = setUp { name = replyQueue }
        var consumer = Consumer(link, queue: name, arguments: arguments)
        if case .exclusiveReplyQueue(_, let exchange, let routingKey) = setUp {
            try consumer.makeReplyQueue(exchange: exchange, routingKey: routingKey)
        }
        try consumer.subscribe(prefetch: prefetch)
        return consumer
    }

    private mutating func makeReplyQueue(exchange: String, routingKey: String) throws(AMQPError) {
        // Exclusive already means: deleted with the connection. Auto-delete would also delete it in consumeAnew.
        let declaration = QueueDeclaration(
            name: queue, isDurable: false, isExclusive: true, arguments: ["x-queue-type": "classic"])
        try link.call(.declareQueue(declaration))
        try link.call(.bindQueue(name: queue, exchange: exchange, routingKey: routingKey))
    }

    private var consumerTag: String { "purser-\(subscriptions)" }

    private mutating func subscribe(prefetch: Int) throws(AMQPError) {
        try link.call(.setPrefetch(max(1, prefetch)))
        subscriptions += 1
        try link.call(.consume(queue: queue, consumerTag: consumerTag, arguments: arguments))
        self.prefetch = prefetch
    }

    /// Ends the subscription and starts another with a new prefetch: the end of a slow start. Messages that arrived
    /// before stay valid and are handed out first. A stream starts again at its offset.
    public mutating func consumeAnew(prefetch: Int) throws(AMQPError) {
        try link.call(.endConsuming(consumerTag: consumerTag))
        try subscribe(prefetch: prefetch)
    }

    /// Takes what has arrived, at most `max`; if nothing has, waits up to `wait` for the first message.
    ///
    /// - Returns: nothing if nothing came in time. A message's tag is needed to acknowledge it.
    public mutating func receive(max: Int, wait: Duration) throws(AMQPError) -> [Delivery] {
        let deadline = ContinuousClock.now.advanced(by: wait)
        while arrived.isEmpty {
            guard let event = try link.next(within: ContinuousClock.now.duration(to: deadline)) else { return [] }
            try handle(event)
        }
        while arrived.count < max, let event = try link.next(within: .zero) { try handle(event) }
        let batch = Array(arrived.prefix(max))
        arrived.removeFirst(batch.count)
        return batch
    }

    private mutating func handle(_ event: FramePump.Event) throws(AMQPError) {
        switch event {
        case .delivery(var delivery):
            delivery.tag |= link.generation << Self.generationShift
            arrived.append(delivery)
        case .consumerCancelled(let tag) where tag == consumerTag:
            isCancelledByBroker = true
            throw .consumerCancelled(queue: queue)
        default: break
        }
    }

    /// 48 bits count the deliveries of one connection: enough for centuries; 16 bits number the connection.
    private static let generationShift: UInt64 = 48

    /// Acknowledges this message and all before it that were not acknowledged yet.
    public mutating func acknowledge(upTo tag: UInt64) throws(AMQPError) {
        try link.send(.acknowledge(tag: try ownTag(tag), isMultiple: true))
    }

    /// Acknowledges this message only.
    public mutating func acknowledge(_ tag: UInt64) throws(AMQPError) {
        try link.send(.acknowledge(tag: try ownTag(tag), isMultiple: false))
    }

    private func ownTag(_ tag: UInt64) throws(AMQPError) -> UInt64 {
        guard tag >> Self.generationShift == link.generation else { throw .foreignDeliveryTag }
        return tag & (1 << Self.generationShift - 1)
    }

    /// Reads what has arrived and sends a heartbeat if one is due, without waiting. To be called at least every half
    /// heartbeat (5 s) by an owner that is busy elsewhere.
    public mutating func serveHeartbeat() throws(AMQPError) {
        if isCancelledByBroker { throw .consumerCancelled(queue: queue) }
        while let event = try link.next(within: .zero) { try handle(event) }
    }

    /// Ends the subscription; what arrived can still be received and acknowledged. Errors show at the next call.
    public mutating func cancel() {
        _ = try? link.call(.endConsuming(consumerTag: consumerTag))
    }

    /// Ends the connection; unacknowledged messages go back to the queue. Takes 1 s at most.
    public mutating func close() { link.close() }
}
