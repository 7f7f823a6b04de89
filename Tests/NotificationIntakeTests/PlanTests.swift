import Messages
import Observability
import Postgres
import TestSupport
import Testing

@testable import NotificationIntake
@testable import Pipeline

/// What statements read when there is much, planned when there was nothing.
@Suite(.timeLimit(.minutes(2))) struct PlanTests {
    /// Notifications, refusals and facts as 100,000 calls of Apple would leave them; one in a thousand was not known.
    private static let fill = """
        INSERT INTO intake.headers (digest, segment)
        SELECT sha256(n::text::bytea), 'h' || n FROM generate_series(1, 20000) n;
        INSERT INTO intake.notifications (environment, notification_uuid, app, type, is_known, transaction_id,
            original_transaction_id, signed_date, received_at, header, payload, signature, message, last_message,
            correlation_id)
        SELECT 'Production', gen_random_uuid(), 'game', CASE WHEN n % 1000 = 0 THEN 'NEW' ELSE 'DID_RENEW' END,
            n % 1000 <> 0, n::text, n::text, 0, now(), (SELECT min(id) FROM intake.headers), '', sha512(''),
            gen_random_uuid(), gen_random_uuid(), ''
        FROM generate_series(1, 100000) n;
        INSERT INTO intake.quarantine (message, app, reason, "check", evidence_hash, excerpt, correlation_id)
        SELECT gen_random_uuid(), 'game', '', '', sha256(''), '', '' FROM generate_series(1, 20000);
        INSERT INTO intake.redrives (message, actor, request, is_dry_run, answer)
        SELECT gen_random_uuid(), '', '', true, '' FROM generate_series(1, 20000);
        INSERT INTO intake.facts (id, cause, key, revision, type, version, correlation_id, occurred_at, body)
        SELECT gen_random_uuid(), gen_random_uuid(), n::text, 0, 'notification.did_renew', 1, '', 0, ''
        FROM generate_series(1, 100000) n;
        """

    private static func redrive(_ uuids: [String], _ types: [String]) throws -> Incoming {
        let request = NotificationRedriveRequested(
            notificationUUIDs: uuids, environment: nil, notificationTypes: types, actor: "tests", isDryRun: false)
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: .notificationRedriveRequested, version: 1, occurredAt: World.now,
            correlationID: "c")
        return Incoming(header: header, body: try MessageCoding.encode(request), isRedelivered: false)
    }

    @Test func `what was planned on empty tables goes by index on a hundred thousand rows`() async throws {
        try await IntakeDatabase.with("plans") { intake in
            // The server's own ANALYZE would come at any moment.
            for table in ["headers", "notifications", "quarantine", "redrives", "facts", "unannounced"] {
                try intake.database.execute("ALTER TABLE intake.\(table) SET (autovacuum_enabled = false)")
            }
            var session = try intake.open()
            var commands = try intake.open(handler: try IntakeDatabase.redriver())
            let world = try World()
            let stored = try (1...20).map { try received(world.sign("REFUND", $0)) }
            _ = try session.run(stored)
            let batch = try (1...40).map { try received(world.sign("REFUND", $0)) } + [try received("forged")]
            let requests = [
                try Self.redrive([World.uuid(1), World.uuid(999)], []), try Self.redrive([], ["REFUND"]),
                try Self.redrive([], []),
            ]
            for _ in 1...2 {
                try session.check(batch)
                for request in requests { try commands.check([request]) }
            }
            try intake.database.execute(Self.fill)
            for statistics in ["", "ANALYZE"] {
                try intake.database.execute(statistics)
                // As lanes do, see PlanRenewal.
                _ = try session.connection.query(PlanRenewal.statement)
                _ = try commands.connection.query(PlanRenewal.statement)
                session.handler = try IntakeDatabase.handler()
                for _ in 1...2 {
                    try session.check(batch)
                    for request in requests { try commands.check([request]) }
                }
            }
        }
    }
}

extension Session {
    /// Runs a batch as a lane does and expects it to read few rows, all by index. What it changes is undone.
    fileprivate mutating func check(_ batch: [Incoming]) throws {
        // What earlier transactions did may not have been flushed yet: only the difference counts.
        let reads = """
            SELECT sum(seq_tup_read)::bigint AS scanned, sum(idx_tup_fetch)::bigint AS fetched
            FROM pg_stat_xact_user_tables WHERE schemaname = 'intake'
            """
        var handler = self.handler
        #expect(throws: RollBack.self) {
            try connection.transaction { transaction in
                let before = try transaction.query(reads).single()
                let outcomes = try handler.handle(batch, in: &transaction)
                let store = FactStore(schema: IntakeProgram.name)
                _ = try store.save(
                    outcomes.flatMap(\.facts), recalling: batch.map(\.header.id), retiring: [1], in: &transaction)
                let after = try transaction.query(reads).single()
                #expect(try after.int8("scanned") == before.int8("scanned"))
                // A few rows for each message; a re-drive reads the twenty refunds, as long as there is nothing else for each
                // type.
                let fetched = try after.int8("fetched") - before.int8("fetched")
                #expect(fetched <= Int64(batch.count * 5 + 500), "\(batch.count) messages: \(batch.last?.text ?? "")")
                throw RollBack()
            }
        }
        self.handler = handler
    }
}

extension Incoming {
    fileprivate var text: String { String(decoding: body.prefix(200), as: UTF8.self) }
}

/// Thrown to roll a transaction back.
private struct RollBack: Error {}
