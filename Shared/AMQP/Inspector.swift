/// Looks at the broker's queues and exchanges without changing them: for readiness, `check` and tests. One thread owns
/// it; a connection of its own.
public struct Inspector: ~Copyable {
    /// What the broker tells about a queue.
    public struct QueueStatus: Sendable, Equatable {
        /// Messages that are ready (not those delivered and unacknowledged).
        public let messages: Int
        /// Subscriptions at present.
        public let consumers: Int
    }

    private var link: Link

    private init(_ link: consuming Link) { self.link = link }

    /// Connects.
    public static func open(_ endpoint: AMQPEndpoint, connectionName: String) throws(AMQPError) -> Inspector {
        Inspector(try Link.open(endpoint, connectionName: connectionName))
    }

    /// The state of a queue, nil if there is none of that name (queue.declare passive).
    ///
    /// Another connection's exclusive queue throws `channelClosed(405)`.
    public mutating func queue(_ name: String) throws(AMQPError) -> QueueStatus? {
        let reply = try lookUp(.declareQueue(QueueDeclaration(name: name, isPassive: true)))
        guard case .queueDeclared(let messages, let consumers) = reply else { return nil }
        return QueueStatus(messages: messages, consumers: consumers)
    }

    /// Whether there is an exchange of that name (exchange.declare passive).
    public mutating func hasExchange(_ name: String) throws(AMQPError) -> Bool {
        try lookUp(.declareExchange(name: name, kind: "", isPassive: true)) != nil
    }

    /// Whether the broker has raised an alarm that it tells publishers; as of the last call.
    public var isBlocked: Bool { link.isBlocked }

    /// Reads what has arrived and sends a heartbeat if one is due, without waiting.
    public mutating func serveHeartbeat() throws(AMQPError) {
        while try link.next(within: .zero) != nil {}
    }

    /// Ends the connection. Takes 1 s at most.
    public mutating func close() { link.close() }

    private mutating func lookUp(_ request: Request) throws(AMQPError) -> Reply? {
        do {
            return try link.call(request)
        } catch {
            // Looking for what does not exist closes the channel (404 not found).
            guard case .channelClosed(404, _) = error else { throw error }
            try link.reopenChannel()
            return nil
        }
    }
}

// MARK: - For tests and tools

extension Inspector {
    /// Makes a durable queue. Services declare nothing: their topology is imported.
    package mutating func declareQueue(_ name: String, arguments: [String: AMQPHeaderValue]) throws(AMQPError) {
        try link.call(.declareQueue(QueueDeclaration(name: name, arguments: arguments)))
    }

    /// Deletes a queue with everything in it.
    package mutating func deleteQueue(_ name: String) throws(AMQPError) { try link.call(.deleteQueue(name: name)) }

    /// Makes a durable exchange of the kind `topic`, `direct`, `fanout` or `headers`.
    package mutating func declareExchange(_ name: String, kind: String) throws(AMQPError) {
        try link.call(.declareExchange(name: name, kind: kind, isPassive: false))
    }

    /// Binds a queue.
    package mutating func bindQueue(_ name: String, exchange: String, routingKey: String) throws(AMQPError) {
        try link.call(.bindQueue(name: name, exchange: exchange, routingKey: routingKey))
    }
}
