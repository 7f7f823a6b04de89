import Synchronization

/// A connection with its channel and event machine: what publisher, consumer and inspector share.
///
/// After any error it throws it is finished; later calls throw `closed`.
struct Link: ~Copyable {
    private var handle: ConnectionHandle
    private var pump = FramePump()
    /// Events that came while an answer was awaited.
    private var stash: [FramePump.Event] = []
    private let replyTimeout: Duration
    private var isUsable = true

    /// Whether the broker has stopped taking messages from this connection (memory or disk alarm).
    private(set) var isBlocked = false

    /// The number of this connection within the process, 1…65535: part of every delivery tag.
    let generation: UInt64

    private static let lastGeneration = Atomic<UInt64>(0)

    private init(_ handle: consuming ConnectionHandle, replyTimeout: Duration) {
        self.handle = handle
        self.replyTimeout = replyTimeout
        // 16 bits: an old tag could be taken for a new one only 65,535 connections later.
        generation = Self.lastGeneration.add(1, ordering: .relaxed).oldValue % 65_535 + 1
    }

    /// Connects, logs in and opens the channel. Blocking.
    static func open(_ endpoint: AMQPEndpoint, connectionName: String) throws(AMQPError) -> Link {
        let handle = try ConnectionHandle.open(endpoint, connectionName: connectionName)
        var link = Link(handle, replyTimeout: endpoint.replyTimeout)
        try link.call(.openChannel)
        return link
    }

    /// The next event, serving heartbeats meanwhile; nil if none came within the time.
    ///
    /// Alarms are noted here; the end of the channel or connection is answered and thrown.
    mutating func next(within duration: Duration) throws(AMQPError) -> FramePump.Event? {
        if !stash.isEmpty { return stash.removeFirst() }
        return try receive(within: duration)
    }

    private mutating func receive(within duration: Duration) throws(AMQPError) -> FramePump.Event? {
        guard isUsable else { throw .closed }
        let deadline = ContinuousClock.now.advanced(by: duration)
        var rest = duration
        do {
            while let frame = try handle.nextFrame(within: rest) {
                if let event = try pump.accept(frame) { return try noted(event) }
                rest = ContinuousClock.now.duration(to: deadline)
            }
            return nil
        } catch {
            isUsable = false
            throw error
        }
    }

    private mutating func noted(_ event: FramePump.Event) throws(AMQPError) -> FramePump.Event {
        switch event {
        case .blocked: isBlocked = true
        case .unblocked: isBlocked = false
        case .channelClose(let code, let text):
            try handle.send(.confirmChannelClose)
            throw .channelClosed(code: code, text: text)
        case .connectionClose(let code, let text):
            // The broker may be gone before it reads this; that changes nothing.
            _ = try? handle.send(.confirmConnectionClose)
            throw .connectionClosed(code: code, text: text)
        default: break
        }
        return event
    }

    /// Sends a request and waits for its answer, at most for the reply timeout; other events wait their turn.
    @discardableResult
    mutating func call(_ request: Request) throws(AMQPError) -> Reply {
        try send(request)
        let deadline = ContinuousClock.now.advanced(by: replyTimeout)
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else {
                isUsable = false
                throw .timedOut(operation: request.operation)
            }
            switch try receive(within: rest) {
            case .reply(let reply): return reply
            case .some(let event): stash.append(event)
            case nil: continue
            }
        }
    }

    /// Sends a request that has no answer.
    mutating func send(_ request: Request) throws(AMQPError) {
        guard isUsable else { throw .closed }
        do { try handle.send(request) } catch {
            isUsable = false
            throw error
        }
    }

    /// Writes a message.
    mutating func publish(_ message: OutgoingMessage) throws(AMQPError) {
        guard isUsable else { throw .closed }
        do { try handle.publish(message) } catch {
            isUsable = false
            throw error
        }
    }

    /// Whether a message can be written now without blocking.
    mutating func isWritable() -> Bool { handle.isWritable(within: .zero) }

    /// Opens the channel again after the broker closed it (an inspector asks for what may not exist).
    mutating func reopenChannel() throws(AMQPError) {
        isUsable = true
        stash.removeAll()
        try call(.openChannel)
    }

    /// Ends the connection in good order if it still works: the broker then returns unacknowledged messages at once.
    mutating func close() {
        guard isUsable else { return }
        isUsable = false
        guard (try? handle.send(.closeConnection)) != nil else { return }
        // 1 s: a broker that does not answer by then will notice the closed socket.
        let deadline = ContinuousClock.now.advanced(by: .seconds(1))
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero, let frame = try? handle.nextFrame(within: rest) else { return }
            if frame == .method(.reply(.connectionClosed)) { return }
        }
    }
}

extension Request {
    /// A name for errors.
    fileprivate var operation: String {
        switch self {
        case .openChannel: "channel.open"
        case .selectConfirms: "confirm.select"
        case .setPrefetch: "basic.qos"
        case .consume: "basic.consume"
        case .endConsuming: "basic.cancel"
        case .acknowledge: "basic.ack"
        case .declareExchange: "exchange.declare"
        case .deleteExchange: "exchange.delete"
        case .declareQueue: "queue.declare"
        case .bindQueue: "queue.bind"
        case .deleteQueue: "queue.delete"
        case .closeConnection, .confirmConnectionClose: "connection.close"
        case .confirmChannelClose: "channel.close"
        }
    }
}
