import AMQP
import Messages
import Observability
import Postgres
import Runtime

/// One life of a lane: its connections, its handler, and the loop. Never leaves the lane's thread.
struct LaneSession: ~Copyable {
    let configuration: LaneConfiguration
    let stop: StopSignal
    let logger: Logger
    let instruments: LaneMetrics
    let probe: any LaneProbe
    /// Told whether the lane does its work: not while it waits for the database or for a missing binding.
    let setReady: (Bool) -> Void
    let store: FactStore
    var handler: any Handler
    var consumer: Consumer
    var publisher: Publisher
    var database: Connection
    var plans = PlanRenewal()
    /// The batch that is committed and sent off but not confirmed yet: the broker works on it while the next one is in
    /// the database.
    var told: Told?
    /// Its messages.
    private var sent: [OutgoingMessage] = []
    /// Rows of `unannounced` whose facts are published; retired with the next batch or after a second of idleness.
    var published: [Int64] = []
    /// Whether the window is still 1 because only redelivered messages have come so far: one message that kills the
    /// process must not use up its neighbours' deliveries.
    var isSlowStart = true
    var lastWork = ContinuousClock.now
    var nextSweep = ContinuousClock.now

    /// Opens everything, the consumer last: nothing is delivered before it can be handled.
    static func open(
        _ configuration: LaneConfiguration, handler: any Handler, stop: StopSignal, logger: Logger,
        instruments: LaneMetrics, probe: any LaneProbe, setReady: @escaping (Bool) -> Void
    ) throws -> LaneSession {
        let name = "purser-\(configuration.service) \(configuration.queue.name)"
        let database = try Self.openDatabase(configuration)
        let publisher = try Publisher.open(configuration.broker, connectionName: "\(name) publish")
        let consumer = try Consumer.open(
            configuration.broker, connectionName: "\(name) consume", queue: configuration.queue.name, prefetch: 1)
        return LaneSession(
            configuration: configuration, stop: stop, logger: logger, instruments: instruments, probe: probe,
            setReady: setReady, store: FactStore(schema: configuration.service), handler: handler, consumer: consumer,
            publisher: publisher, database: database)
    }

    /// A handler's statements are few and go by keys: planned once, by index.
    static func openDatabase(_ configuration: LaneConfiguration) throws(PostgresError) -> Connection {
        try Connection.open(
            configuration.database, applicationName: "purser-\(configuration.service) \(configuration.queue.name)",
            parameters: Connection.plansByIndex)
    }

    /// The loop. Returns when the stop signal came; throws when a connection to the broker is lost.
    mutating func serve() throws {
        while !stop.isStopped {
            // 200 ms bounds how long a stop waits; the first message ends the wait at once.
            let patience: Duration = told == nil ? .milliseconds(200) : .zero
            let deliveries = try consumer.receive(max: configuration.batchLimit, wait: patience)
            guard !deliveries.isEmpty else {
                if told == nil { try idle() } else { try endTold() }
                continue
            }
            let began = ContinuousClock.now
            let taken = take(deliveries)
            let committed = try tell(taken) { try $0.endTold() }
            told = Told(taken: taken, committed: committed, began: began)
            lastWork = .now
            if isSlowStart, deliveries.contains(where: { !$0.isRedelivered }) {
                isSlowStart = false
                try endTold()
                try consumer.consumeAnew(prefetch: configuration.prefetch)
            }
            try sweepIfDue()
        }
        try endTold()
    }

    /// Ends the batch that is under way, if there is one.
    mutating func endTold() throws {
        guard let ended = told.take() else { return }
        try end(ended.taken, ended.committed)
        instruments.batchSeconds.observe(ended.began.duration(to: .now))
    }

    /// A kind end: no more deliveries, what is published is retired. A crash here would be as safe.
    mutating func finish() {
        consumer.cancel()
        retirePublished()
        consumer.close()
        publisher.close()
        database.close()
    }

    private mutating func idle() throws {
        try consumer.serveHeartbeat()
        try publisher.serveHeartbeat()
        // A second: long enough that a busy lane retires rows with its next batch, for free.
        if lastWork.duration(to: .now) > .seconds(1) { retirePublished() }
        try sweepIfDue()
        // The sweep has just asked the database. Whoever waits for a message to notice that it is gone would sweep
        // nothing until one comes.
        if !database.isUsable {
            setReady(false)
            try reopenDatabase()
            setReady(true)
        }
    }

    private mutating func retirePublished() {
        guard !published.isEmpty else { return }
        let (rows, store) = (published, store)
        // If it fails the sweep publishes these facts once more, under the same ids.
        let isRetired: Void? = try? database.transaction { try store.retire(rows, in: &$0) }
        if isRetired != nil { published = [] }
    }

    private mutating func take(_ deliveries: [Delivery]) -> Taken {
        instruments.deliveries.increment(by: deliveries.count)
        instruments.redeliveries.increment(by: deliveries.count { $0.isRedelivered })
        instruments.batchSize.observe(Double(deliveries.count))
        let triaged = deliveries.map { Envelope.read($0, from: configuration.queue) }
        return Taken(deliveries: deliveries, triaged: triaged, batch: triaged.compactMap { try? $0.get() })
    }

    /// Publishes and waits until the broker has it.
    private mutating func publish(_ messages: [OutgoingMessage]) throws {
        try publisher.begin(messages)
        try awaitConfirms(of: messages)
    }

    /// Waits until the broker has `messages`, which are begun: a return (no queue takes it) means a binding is missing,
    /// so the lane is not ready and tries again until an operator mends the topology.
    private mutating func awaitConfirms(of messages: [OutgoingMessage]) throws {
        var left = messages
        var backoff = Backoff()
        while !left.isEmpty {
            let outcomes = try Self.finish(&publisher, keeping: &consumer)
            left = zip(left, outcomes).compactMap { message, outcome in
                if case .returned = outcome { message } else { nil }
            }
            guard let lost = left.first else { break }
            instruments.unroutable.increment(by: left.count)
            logger.error(
                "no queue takes a message; is the topology imported?",
                [
                    "exchange": .string(lost.exchange), "routing.key": .string(lost.routingKey),
                ])
            setReady(false)
            if stop.wait(for: backoff.next()) { throw LaneStopped() }
            try consumer.serveHeartbeat()
            try publisher.begin(left)
        }
        setReady(true)
    }

    private static func finish(
        _ publisher: inout Publisher, keeping consumer: inout Consumer
    ) throws -> [PublishOutcome] {
        try publisher.finish { () throws(AMQPError) in try consumer.serveHeartbeat() }
    }
}

// MARK: - Steps

extension LaneSession: LaneSteps {
    /// Deliveries, and which of them are messages of the queue.
    struct Taken {
        let deliveries: [Delivery]
        let triaged: [Result<Incoming, Envelope.Malformed>]
        let batch: [Incoming]
    }

    mutating func commit(_ taken: Taken) throws -> LaneBatch {
        guard !taken.batch.isEmpty else { return LaneBatch() }
        let committed = try commit(taken.batch)
        if let noting = configuration.noting {
            for fact in committed.entries.flatMap(\.facts) { noting(fact, logger) }
        }
        return committed
    }

    /// A batch that is sent off.
    struct Told {
        let taken: Taken
        let committed: LaneBatch
        /// When it was taken.
        let began: ContinuousClock.Instant
    }

    mutating func send(_ taken: Taken, _ committed: LaneBatch) throws {
        let now = WallClock.milliseconds
        let refusals = zip(taken.deliveries, taken.triaged).compactMap { delivery, triage -> OutgoingMessage? in
            guard case .failure(let malformed) = triage else { return nil }
            return Envelope.refusal(malformed, of: delivery, service: configuration.service, occurredAt: now)
        }
        sent = refusals + committed.messages(service: configuration.service, now: now)
        try publisher.begin(sent)
    }

    mutating func confirm(_ taken: Taken, _ committed: LaneBatch) throws {
        try awaitConfirms(of: sent)
        sent = []
    }

    mutating func forward(_ taken: Taken, _ committed: LaneBatch) throws {
        try publish(forwarding(taken.deliveries, taken.triaged, committed))
    }

    mutating func note(_ committed: LaneBatch) {
        published += committed.unannounced
        for fact in committed.entries.flatMap(\.facts) { instruments.facts(fact.type).increment() }
    }

    mutating func acknowledge(_ taken: Taken) throws {
        if let last = taken.deliveries.last { try consumer.acknowledge(upTo: last.tag) }
    }

    func reached(_ point: CrashPoint, _ taken: Taken) throws {
        try probe.reached(point, batch: taken.batch.map(\.header.id))
    }
}

// MARK: - Sweep

extension LaneSession {
    /// Publishes the facts of batches that were committed but, for whatever reason, never announced: the one hole that
    /// acknowledging last leaves (the input was parked, purged or lost after the commit).
    private mutating func sweepIfDue() throws {
        guard case .work = configuration.queue.durability, ContinuousClock.now >= nextSweep else { return }
        nextSweep = ContinuousClock.now + configuration.sweepInterval * Double.random(in: 0.8...1.2)
        try endTold()
        let (store, seconds) = (store, configuration.sweepAfterSeconds)
        // A database that is away now is tried again at the next turn, on a new connection.
        let own = published
        guard
            let stale = try? database.transaction({
                try store.staleBatches(afterSeconds: seconds, except: own, in: &$0)
            })
        else { return }
        // Told before it is mended: where the broker takes nothing it goes on growing.
        instruments.unannouncedAge.set(Double(stale.ages.values.max() ?? 0) / 1_000)
        let rows = stale.ages.keys.sorted()
        guard !rows.isEmpty else { return }
        logger.warning("facts of an earlier batch were never announced", ["batches": .int(rows.count)])
        let service = configuration.service
        try publish(stale.facts.map { Envelope.fact($0, service: service, replyTo: nil) })
        instruments.swept.increment(by: stale.facts.count)
        instruments.unannouncedAge.set(0)
        published += rows
        retirePublished()
    }
}
