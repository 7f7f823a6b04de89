import Runtime

/// Publishes messages and knows what became of them, on a connection of its own. One thread owns it.
///
/// Many messages are in flight at once; the broker's confirms come back in any order. After an error is thrown it is
/// finished: what was in flight is unknown and must be published again, under the same message ids, on a new one.
public struct Publisher: ~Copyable {
    /// What happened so far on this connection.
    public struct Statistics: Sendable, Equatable {
        /// Messages written, repetitions included.
        public internal(set) var published = 0
        /// Messages confirmed.
        public internal(set) var confirmed = 0
        /// Mandatory messages that came back.
        public internal(set) var returned = 0
        /// Messages the broker rejected (nack); each was written again.
        public internal(set) var rejected = 0
        /// Calls of `publish` with messages: `published` / `rounds` tells how well publishing is batched.
        public internal(set) var rounds = 0
    }

    /// Messages in flight at most. Measured on a quorum queue: 100 reaches 16,764/s, 500 no more, at 5 × the latency.
    static let window = 100
    /// Bytes in flight at most (one larger message is let through): what the socket takes while a broker hesitates.
    static let byteWindow = 1 << 20
    /// `whileWaiting` is called this often while `publish` waits; half of the 2 s it promises.
    static let waitingInterval: Duration = .seconds(1)
    /// How soon a full socket is tried again, if no event comes before.
    static let fullSocketInterval: Duration = .milliseconds(10)

    private var link: Link
    private var ledger = ConfirmLedger()
    /// What `begin` wrote and `finish` has not settled yet.
    private var round: PublishRound?
    /// What happened so far on this connection.
    public private(set) var statistics = Statistics()

    private init(_ link: consuming Link) { self.link = link }

    /// Connects and turns publisher confirms on.
    public static func open(_ endpoint: AMQPEndpoint, connectionName: String) throws(AMQPError) -> Publisher {
        var link = try Link.open(endpoint, connectionName: connectionName)
        try link.call(.selectConfirms)
        return Publisher(link)
    }

    /// Whether the broker has stopped taking messages (memory or disk alarm), as of the last call of any method.
    public var isBlocked: Bool { link.isBlocked }

    /// Publishes `messages` and waits until each that awaits its confirm is settled.
    ///
    /// Messages are written in order, but a rejected one is written again later: order is not kept then. While the
    /// broker is blocked nothing is written.
    ///
    /// - Parameters:
    ///   - patience: after this time what is not settled is answered `.unconfirmed`; nil waits without end.
    ///   - whileWaiting: called at least every 2 s until this returns, to serve heartbeats of other connections. What it
    ///     throws ends the call; the publisher stays usable.
    ///   - whileBlocked: called as soon as the broker says that it takes no messages, and once a second while it does.
    /// - Returns: one outcome for each message, in order.
    public mutating func publish(
        _ messages: [OutgoingMessage], patience: Duration? = nil, whileWaiting: () throws(AMQPError) -> Void = {},
        whileBlocked: () -> Void = {}
    ) throws(AMQPError) -> [PublishOutcome] {
        try begin(messages, patience: patience)
        return try finish(whileWaiting: whileWaiting, whileBlocked: whileBlocked)
    }

    /// Writes as much of `messages` as the window takes, without waiting for confirms: the owner can do something else
    /// until ``finish(whileWaiting:whileBlocked:)``. One round at a time: of one that is open the outcomes are lost.
    public mutating func begin(_ messages: [OutgoingMessage], patience: Duration? = nil) throws(AMQPError) {
        if round != nil { _ = try finish() }
        guard !messages.isEmpty else { return }
        var begun = PublishRound(messages, patience: patience)
        statistics.rounds += 1
        _ = try write(&begun)
        round = begun
    }

    /// Waits for what ``begin(_:patience:)`` began; see ``publish(_:patience:whileWaiting:whileBlocked:)``.
    public mutating func finish(
        whileWaiting: () throws(AMQPError) -> Void = {}, whileBlocked: () -> Void = {}
    ) throws(AMQPError) -> [PublishOutcome] {
        guard var round = round.take() else { return [] }
        // Whatever is unsettled at the end belongs to nobody: its confirm is only counted.
        defer { ledger.forgetTokens() }
        var nextCall = ContinuousClock.now.advanced(by: Self.waitingInterval)
        while true {
            let isSocketFull = try write(&round)
            let now = ContinuousClock.now
            if link.isBlocked { whileBlocked() }
            if round.isDone(isBlocked: link.isBlocked) || round.isOutOfPatience(at: now) { return round.outcomes }
            if now >= nextCall {
                try whileWaiting()
                nextCall = ContinuousClock.now.advanced(by: Self.waitingInterval)
            }
            round.requeueRejected(at: now)
            let limit = isSocketFull ? min(nextCall, now.advanced(by: Self.fullSocketInterval)) : nextCall
            let canGoOn = round.hasMore && canWrite && !isSocketFull
            try settle(&round, waitingUntil: canGoOn ? now : round.wakeUp(before: limit))
        }
    }

    /// Reads what has arrived and sends a heartbeat if one is due, without waiting. To be called at least every half
    /// heartbeat (5 s) by an owner that has nothing to publish; refreshes `isBlocked`.
    public mutating func serveHeartbeat() throws(AMQPError) {
        while let event = try link.next(within: .zero) {
            for settlement in try settlements(of: event) { round?.settle(settlement) }
        }
    }

    /// Ends the connection. Takes 1 s at most.
    public mutating func close() { link.close() }

    // MARK: - Inside a round

    private var canWrite: Bool {
        !link.isBlocked && ledger.inFlight < Self.window
            && (ledger.bytesInFlight < Self.byteWindow || ledger.inFlight == 0)
    }

    /// Writes as much as the window takes.
    ///
    /// - Returns: whether it stopped because the socket takes no more: a broker that raised an alarm stops reading before
    ///   its notice is read here.
    private mutating func write(_ round: inout PublishRound) throws(AMQPError) -> Bool {
        while round.hasMore, canWrite {
            // Up to 64 KiB certainly fit into the socket's buffer: the usual round saves the question.
            if ledger.bytesInFlight > 65_536, !link.isWritable() { return true }
            guard let index = round.takeNext() else { break }
            let message = round.messages[index]
            let identity = ConfirmLedger.Identity(
                messageID: message.properties.messageID, exchange: message.exchange, routingKey: message.routingKey)
            try link.publish(message)
            ledger.add(identity, size: message.body.count, token: message.awaitsConfirm ? index : nil)
            statistics.published += 1
        }
        return false
    }

    /// Reads confirms: waits for the first until `deadline`, then takes what has arrived.
    private mutating func settle(
        _ round: inout PublishRound, waitingUntil deadline: ContinuousClock.Instant
    ) throws(AMQPError) {
        var wait = max(.zero, ContinuousClock.now.duration(to: deadline))
        while let event = try link.next(within: wait) {
            for settlement in try settlements(of: event) { round.settle(settlement) }
            wait = .zero
        }
    }

    private mutating func settlements(of event: FramePump.Event) throws(AMQPError) -> [ConfirmLedger.Settlement] {
        switch event {
        case .acknowledged(let tag, let isMultiple):
            let before = ledger.inFlight
            let settlements = try ledger.settle(tag: tag, isMultiple: isMultiple, isAccepted: true)
            statistics.confirmed += before - ledger.inFlight
            return settlements
        case .rejected(let tag, let isMultiple):
            let before = ledger.inFlight
            let settlements = try ledger.settle(tag: tag, isMultiple: isMultiple, isAccepted: false)
            statistics.rejected += before - ledger.inFlight
            return settlements
        case .returned(let message):
            let identity = ConfirmLedger.Identity(
                messageID: message.messageID, exchange: message.exchange, routingKey: message.routingKey)
            try ledger.markReturned(identity, code: message.code, text: message.text)
            statistics.returned += 1
            return []
        default: return []
        }
    }
}
