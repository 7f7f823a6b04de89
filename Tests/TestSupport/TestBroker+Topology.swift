public import AMQP

/// Making topology by hand, in milliseconds instead of half a second for each rabbitmqctl. Blocking: own threads only.
extension TestBroker {
    /// The kinds of queue a test may want.
    public enum QueueKind: String, Sendable {
        /// Replicated, with delivery counts.
        case quorum
        /// The old kind.
        case classic
        /// A log that is read by offset.
        case stream
    }

    /// Makes a durable queue, with more arguments (`x-max-length`, …) if given.
    public func declareQueue(
        _ name: String, kind: QueueKind = .quorum, arguments: [String: AMQPHeaderValue] = [:]
    ) throws {
        var all = arguments
        all["x-queue-type"] = .string(kind.rawValue)
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        try inspector.declareQueue(name, arguments: all)
    }

    /// Deletes a queue with everything in it.
    public func deleteQueue(_ name: String) throws {
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        try inspector.deleteQueue(name)
    }

    /// Makes a durable exchange: `topic`, `direct`, `fanout` or `headers`.
    public func declareExchange(_ name: String, kind: String = "topic") throws {
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        try inspector.declareExchange(name, kind: kind)
    }

    /// Binds a queue to an exchange.
    public func bindQueue(_ name: String, exchange: String, routingKey: String) throws {
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        try inspector.bindQueue(name, exchange: exchange, routingKey: routingKey)
    }

    /// Ready messages in a queue; nil if there is no such queue.
    public func messageCount(_ queue: String) throws -> Int? {
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        return try inspector.queue(queue)?.messages
    }

    /// Subscriptions of a queue; nil if there is no such queue.
    public func consumerCount(_ queue: String) throws -> Int? {
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        return try inspector.queue(queue)?.consumers
    }

    /// Publishes on a connection of its own and waits for the confirms.
    public func publish(_ messages: [OutgoingMessage]) throws -> [PublishOutcome] {
        var publisher = try Publisher.open(endpoint, connectionName: "test")
        defer { publisher.close() }
        return try publisher.publish(messages)
    }

    /// The same broker and virtual host behind a proxy.
    public func endpoint(through proxy: FaultyProxy) -> AMQPEndpoint {
        var copy = endpoint
        copy.host = "127.0.0.1"
        copy.port = proxy.port
        return copy
    }

    /// A proxy in front of this broker.
    public func makeProxy() throws -> FaultyProxy { try FaultyProxy(host: endpoint.host, port: endpoint.port) }
}
