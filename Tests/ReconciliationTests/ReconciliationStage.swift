import AMQP
import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import TestSupport

@testable import Reconciliation

/// Reconciliation's broker and database as the service sees them, with a stream of its own.
struct ReconciliationStage: Sendable {
    let lane: LaneStage

    /// A stage whose stream is new.
    static func make(_ suite: String, _ name: String) async throws -> ReconciliationStage {
        let lane = try await LaneStage.make(
            suite: "recon_\(suite)", name: name, queue: Topology.reconciliationCommands,
            migrations: ReconciliationProgram.migrations)
        let stage = ReconciliationStage(lane: lane)
        try await onThread { try stage.renewStream() }
        return stage
    }

    /// Deletes the stream with all that is in it and makes it anew.
    func renewStream() throws {
        try lane.broker.deleteQueue(Topology.factsStream)
        try lane.broker.declareQueue(Topology.factsStream, kind: .stream)
        for type in Topology.streamedFacts {
            try lane.broker.bindQueue(
                Topology.factsStream, exchange: Topology.exchange(of: "granting"), routingKey: type.rawValue)
        }
    }

    // MARK: - Facts

    /// The time of every fact here: 2026-05-28.
    static let time: Int64 = 1_780_000_000_000

    /// Facts about purchases of these numbers, as Granting says them.
    func granted(_ numbers: ClosedRange<Int>, at time: Int64 = time) throws -> [OutgoingMessage] {
        try numbers.map { number in
            var message = try lane.request(
                PurchaseGranted(
                    customer: CustomerID("c\(number)"), transactionID: TransactionID(String(number)),
                    productID: ProductID("p"), productVersion: 1, quantity: 1, orderNumber: OrderNumber("IAP\(number)"),
                    amounts: [], revokedShare: 0, balances: [], isClaimedByCaller: false))
            message.properties.headers[HeaderName.occurredAt] = .int64(time)
            message.properties.headers[HeaderName.environment] = "Production"
            return message
        }
    }

    // MARK: - The journal

    /// Starts a copy of the journal.
    func journal(
        stop: StopSignal, metrics: Metrics = Metrics(), months: Int = 240, now: Int64 = time,
        probe: @escaping JournalProbe = { _ in }
    ) -> JournalPart {
        let configuration = lane.configuration()
        return JournalPart.start(
            broker: configuration.broker, database: configuration.database, months: months,
            .init(stop: stop, logger: .silent), instruments: JournalMetrics(metrics), now: { now }, probe: probe)
    }

    /// Runs a copy until `isDone` holds, then stops it.
    func read(
        metrics: Metrics = Metrics(), months: Int = 240, now: Int64 = time, probe: @escaping JournalProbe = { _ in },
        until isDone: () throws -> Bool
    ) throws {
        let stop = StopSignal()
        let part = journal(stop: stop, metrics: metrics, months: months, now: now, probe: probe)
        defer { stop.stop() }
        try eventually("the journal has it", isDone)
        stop.stop()
        guard part.shutDown(within: .seconds(30)) else {
            throw DoesNotStop()
        }
    }

    // MARK: - The database

    /// Rows of a query of the superuser.
    func rows(_ sql: String) throws -> [Row] {
        var connection = try lane.database.open()
        return Array(try connection.query(sql))
    }

    /// A number.
    func number(_ sql: String) throws -> Int64? { try rows("SELECT (\(sql))::bigint AS n").first?.optionalInt8("n") }

    /// Texts of one column.
    func texts(_ sql: String) throws -> [String] { try rows(sql).map { try $0.text("t") } }

    /// Facts in the journal.
    func count() throws -> Int64 { try number("SELECT count(*) FROM reconciliation.journal") ?? -1 }

    /// A session of the service.
    func open() throws -> Connection { try lane.database.open(role: "purser_reconciliation") }
}

/// A part that runs on after the stop signal.
struct DoesNotStop: Error {}
