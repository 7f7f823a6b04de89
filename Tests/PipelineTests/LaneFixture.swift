import AMQP
import Messages
import Observability
import Postgres
import Runtime
import TestSupport

@testable import Pipeline

/// A stage with the two tables of the pipeline, and a handler that counts.
///
/// The handler does one deed a message: a row in `deeds` and one added to `tally`. Whatever is killed, the tally must
/// equal the number of messages: that is exactly-once for state.
final class LaneFixture: Sendable {
    let stage: LaneStage
    var broker: TestBroker { stage.broker }
    var database: TestDatabase { stage.database }
    var queue: Topology.Queue { stage.queue }
    /// Receives a copy of every fact.
    let observer = LaneStage.observer

    private init(_ stage: LaneStage) { self.stage = stage }

    static func make(_ name: String) async throws -> LaneFixture {
        LaneFixture(
            try await LaneStage.make(suite: name, name: "lane", queue: Topology.grantingCommands, script: schema))
    }

    static let schema = """
        CREATE SCHEMA granting;
        CREATE TABLE granting.facts (sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE,
            cause uuid NOT NULL, key text NOT NULL, revision bigint NOT NULL, type text NOT NULL,
            version bigint NOT NULL, app text, environment text, correlation_id text NOT NULL,
            occurred_at bigint NOT NULL, body text NOT NULL);
        CREATE TABLE granting.unannounced (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, facts uuid[] NOT NULL,
            created_at timestamptz NOT NULL DEFAULT clock_timestamp());
        CREATE TABLE granting.deeds (message uuid PRIMARY KEY, word text NOT NULL CHECK (word <> 'reject'));
        CREATE TABLE granting.tally (total bigint NOT NULL);
        INSERT INTO granting.tally VALUES (0);
        """

    func configuration(broker: FaultyProxy? = nil, database: FaultyProxy? = nil) -> LaneConfiguration {
        stage.configuration(broker: broker, database: database)
    }

    /// Starts a lane with the counting handler.
    func lane(
        _ configuration: LaneConfiguration? = nil, stop: StopSignal, probe: any LaneProbe = NoProbe(),
        metrics: Metrics = Metrics()
    ) -> Lane {
        stage.lane(configuration, stop: stop, probe: probe, metrics: metrics) { CountingHandler() }
    }

    /// Runs a lane until `condition` holds, then stops it.
    func run(
        _ configuration: LaneConfiguration? = nil, probe: any LaneProbe = NoProbe(), until condition: () throws -> Bool
    ) throws {
        try stage.run(configuration, probe: probe, handler: { CountingHandler() }, until: condition)
    }

    /// Publishes one message a word and returns their ids.
    @discardableResult
    func publish(_ words: [String], copies: Int = 1, replyTo: String? = nil) throws -> [MessageID] {
        var publisher = try Publisher.open(broker.endpoint, connectionName: "test")
        defer { publisher.close() }
        let messages = try words.map { try message($0, replyTo: replyTo) }
        let repeated = messages.flatMap { Array(repeating: $0, count: copies) }
        let outcomes = try publisher.publish(repeated)
        guard outcomes.allSatisfy({ $0 == .confirmed }) else { throw TestFailure("not confirmed: \(outcomes)") }
        return messages.compactMap { $0.properties.messageID.map { MessageID($0) } }
    }

    func message(_ word: String, replyTo: String? = nil) throws -> OutgoingMessage {
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: .purchaseRedriveRequested, version: 1,
            occurredAt: WallClock.milliseconds, correlationID: "correlation-\(word)", replyTo: replyTo)
        let body = try MessageCoding.encode(
            PurchaseRedriveRequested(transactionID: TransactionID(word), environment: .sandbox))
        return Envelope.request(header, body: body, service: "granting")
    }

    /// The tally and the number of deeds; equal unless something happened twice.
    func counted() throws -> (tally: Int64, deeds: Int64) {
        var connection = try database.open()
        let row = try connection.query(
            "SELECT (SELECT total FROM granting.tally) AS tally, (SELECT count(*) FROM granting.deeds) AS deeds"
        ).single()
        return (try row.int8("tally"), try row.int8("deeds"))
    }

    func depth(_ name: String) throws -> Int { try stage.depth(name) }

    /// Takes everything that lies in `name` now.
    func drain(_ name: String) throws -> [Delivery] { try stage.drain(name) }
}

/// What a fixture found wrong.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// One deed a message; some words make it misbehave.
struct CountingHandler: Handler {
    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        let words = batch.map { $0.read(PurchaseRedriveRequested.self)?.transactionID.rawValue }
        if words.contains("kill") { throw SimulatedCrash(at: .beforeCommit) }
        let doing = zip(batch, words).filter { !["retry", "park", "outage", nil].contains($0.1) }
        let rows = try transaction.query(
            """
            INSERT INTO granting.deeds (message, word)
            SELECT DISTINCT ON (message) message, word FROM unnest($1::uuid[], $2::text[]) AS given(message, word)
            ORDER BY message ON CONFLICT DO NOTHING RETURNING message
            """,
            [.uuidArray(doing.map { UUIDText.parse($0.0.header.id.rawValue) }), .textArray(doing.map { $0.1 })])
        transaction.enqueue("UPDATE granting.tally SET total = total + $1::bigint", [.int8(Int64(rows.count))])
        var new = Set(try rows.map { MessageID(UUIDText.format(try $0.uuid("message"))) })
        return try zip(batch, words).map { incoming, word in
            switch word {
            case nil: return .park(reason: Incoming.unreadable)
            case "park": return .park(reason: "test.parked")
            case "retry": return .retry(after: .seconds5, reason: "test.retry", isOutage: false, reply: nil)
            case "outage": return .retry(after: .seconds5, reason: "test.outage", isOutage: true, reply: nil)
            default: break
            }
            let fact = try Fact(
                PurchaseHeld(
                    customer: nil, transactionID: TransactionID(word ?? ""), productID: .init("p"),
                    reason: .unknownProduct),
                key: incoming.header.id.rawValue, app: nil, environment: nil, causedBy: incoming.header,
                occurredAt: incoming.header.occurredAt)
            let isNew = new.remove(incoming.header.id) != nil
            return .done(facts: isNew ? [fact] : [], reply: try Reply(BalanceAnswered(balances: [])))
        }
    }
}

/// Comes to something else every time it runs, as a decision does when the world has changed in between.
struct FickleHandler: Handler {
    private var runs: Int64 = 0

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        runs += 1
        return try batch.map { incoming in
            let fact = try Fact(
                PurchaseHeld(
                    customer: nil, transactionID: TransactionID("1"), productID: .init("p"), reason: .unknownProduct),
                key: "1", revision: runs, app: nil, environment: nil, causedBy: incoming.header, occurredAt: 0)
            return .done(facts: [fact], reply: nil)
        }
    }
}
