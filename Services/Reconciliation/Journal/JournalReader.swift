import AMQP
import Messages
import Observability
import Postgres
import Runtime

/// One life of the journal: the connection that holds the lock and writes, and the consumer of the stream. Never leaves
/// its thread.
///
/// A message is recorded together with the place after it, then acknowledged. Whatever dies in between, reading goes on
/// at the stored place, and what comes twice is dropped by its id. The lock is the session's, and the session is the one
/// that writes: who has lost the lock cannot write either.
struct JournalReader: ~Copyable {
    private var connection: Connection
    private var consumer: Consumer
    private var store = JournalStore()
    /// Where the stored place is.
    private var next: Int64?
    /// Whether nothing has come yet since the stream was opened: only then can there be a gap.
    private var isFirst = true
    private let instruments: JournalMetrics
    private let logger: Logger
    private let now: @Sendable () -> Int64
    private let probe: JournalProbe

    /// Messages of one transaction at most: some 20 ms of database, and 500 kB in memory.
    static let batchLimit = 500
    /// Sent ahead by the broker: two batches, so that one is on its way while one is written.
    private static let prefetch = 1_000
    /// Places that a stream may skip where it rolls over to a new file: a snapshot of its writers takes one, and a
    /// reader that was away a while passes a few. What retention cuts off is whole files, thousands of messages.
    static let tolerance: Int64 = 16

    /// Opens the stream at the stored place. `connection` holds the lock.
    static func open(
        _ connection: consuming Connection, broker: AMQPEndpoint, instruments: JournalMetrics, logger: Logger,
        now: @escaping @Sendable () -> Int64, probe: @escaping JournalProbe
    ) throws -> JournalReader {
        let next = try connection.transaction { try JournalStore.position(in: &$0) }
        // The last message read is read once more: if it is another one than the journal has at its place, the stream
        // is another one too.
        let isThere = try next.map { try end(of: broker) >= $0 - 1 } ?? false
        let offset: AMQPHeaderValue = if let next, isThere { .int64(max(next - 1, 0)) } else { "first" }
        let consumer = try Consumer.open(
            broker, connectionName: "purser-reconciliation journal", queue: Topology.factsStream,
            prefetch: prefetch, arguments: ["x-stream-offset": offset])
        return JournalReader(
            connection: connection, consumer: consumer, next: next, instruments: instruments, logger: logger, now: now,
            probe: probe)
    }

    /// The place of the newest message of the stream; -1 if none comes. A reader that begins behind the end is given
    /// nothing until the stream has grown to its place: of a stream that was made anew it would miss all before that.
    private static func end(of broker: AMQPEndpoint) throws -> Int64 {
        var consumer = try Consumer.open(
            broker, connectionName: "purser-reconciliation end of the stream", queue: Topology.factsStream,
            prefetch: prefetch, arguments: ["x-stream-offset": "last"])
        // Of an empty stream nothing comes; the broker sends what there is within milliseconds. Whoever is too early
        // reads from the beginning, which costs time and nothing else.
        var deliveries = try consumer.receive(max: batchLimit, wait: .seconds(2))
        var last: Int64 = -1
        while !deliveries.isEmpty {
            last = max(last, JournalBatch(deliveries).lastOffset ?? -1)
            deliveries = try consumer.receive(max: batchLimit, wait: .milliseconds(50))
        }
        consumer.cancel()
        consumer.close()
        return last
    }

    private init(
        connection: consuming Connection, consumer: consuming Consumer, next: Int64?, instruments: JournalMetrics,
        logger: Logger, now: @escaping @Sendable () -> Int64, probe: @escaping JournalProbe
    ) {
        self.connection = connection
        self.consumer = consumer
        self.next = next
        self.instruments = instruments
        self.logger = logger
        self.now = now
        self.probe = probe
    }

    /// Reads until the stop signal; throws when a connection is lost or the stream is another one than before.
    mutating func serve(months: Int, until stop: StopSignal) throws {
        var keepAt = ContinuousClock.now
        var askAt = ContinuousClock.now
        while !stop.isStopped {
            if keepAt <= .now {
                // An hour: months end rarely.
                keepAt = .now + .seconds(3_600)
                let time = now()
                let dropped = try connection.transaction {
                    try JournalStore.keepMonths(months, now: time, in: &$0)
                }
                if dropped > 0 { logger.info("months of the journal dropped", ["count": .int(Int(dropped))]) }
            }
            let deliveries = try consumer.receive(max: Self.batchLimit, wait: .milliseconds(200))
            if deliveries.isEmpty {
                try consumer.serveHeartbeat()
                // Whoever waits for a message to notice that the lock is gone would keep others waiting.
                if askAt <= .now {
                    askAt = .now + .seconds(5)
                    _ = try connection.query("SELECT 1 AS alive")
                }
                continue
            }
            try probe(.received)
            try record(deliveries)
            try probe(.committed)
            if let last = deliveries.last { try consumer.acknowledge(upTo: last.tag) }
            try probe(.acknowledged)
        }
        consumer.cancel()
        consumer.close()
        connection.close()
    }

    private mutating func record(_ deliveries: [Delivery]) throws {
        var batch = JournalBatch(deliveries)
        guard let last = batch.lastOffset else {
            throw AMQPError.protocolViolation(reason: "the stream's messages have no place")
        }
        let time = now()
        if isFirst, let next, let gap = JournalBatch.gap(from: next, to: batch.firstOffset ?? last) {
            logger.error("facts are missing: the stream begins after the place where reading ended", gap.fields)
            batch.findings.append(gap.finding)
        }
        let (old, target, probe) = (next, max(last + 1, next ?? 0), self.probe)
        var store = self.store
        let (isReplaced, count) = try connection.transaction { transaction in
            let stored = try store.record(batch.entries, in: &transaction)
            // Before the stored place everything is in the journal, so what is new there comes from another stream.
            let isReplaced = old.map { old in stored.contains { $0 < old } } ?? false
            if isReplaced { batch.findings.append(.streamReplaced(at: old ?? 0)) }
            try JournalStore.move(from: old, to: isReplaced ? nil : target, in: &transaction)
            _ = try FindingStore.open(batch.findings, now: time, in: &transaction)
            try probe(.recorded)
            return (isReplaced, stored.count)
        }
        store.remember(batch.entries)
        self.store = store
        isFirst = false
        next = isReplaced ? nil : target
        instruments.recorded.increment(by: count)
        instruments.repeated.increment(by: batch.entries.count - count)
        instruments.unreadable.increment(by: batch.unreadable)
        instruments.offset.set(Double(target))
        if let newest = batch.entries.last { instruments.lag.set(Double(time - newest.header.occurredAt) / 1_000) }
        if isReplaced {
            logger.error("the stream is another one than before; it is read from its beginning")
            throw StreamReplaced()
        }
    }
}

/// The stream was made anew: its places mean other messages than before.
struct StreamReplaced: Error {}

/// The places at which a process may die while it reads the stream.
enum JournalPoint: String, CaseIterable, Sendable {
    /// Messages have come.
    case received
    /// They are written and nothing is committed.
    case recorded
    /// They are committed and not acknowledged.
    case committed
    /// They are acknowledged.
    case acknowledged
}

/// Watches the places; production lets everything pass, tests throw from it.
typealias JournalProbe = @Sendable (JournalPoint) throws -> Void
