import AppStoreSimulation
import Messages
import Postgres
import TestSupport
import Testing

@testable import Pipeline
@testable import Verification

/// Statements are planned once per connection, perhaps while the tables are empty: evidence, quarantine and facts must
/// be found by index in full ones too.
@Suite(.timeLimit(.minutes(5))) struct PlanTests {
    /// Evidence, refusals and facts as 100,000 purchases would leave them.
    private static let fill = """
        INSERT INTO verification.headers (digest, segment)
        SELECT sha256(n::text::bytea), 'h' || n FROM generate_series(1, 20000) n;
        INSERT INTO verification.evidence (environment, transaction_id, signed_date, payload_hash, app, header, payload,
            signature, message, correlation_id)
        SELECT 'Production', n::text, 0, sha256(n::text::bytea), 'game', (SELECT min(id) FROM verification.headers), '',
            sha512(''), gen_random_uuid(), ''
        FROM generate_series(1, 100000) n;
        INSERT INTO verification.quarantine (message, app, reason, evidence_hash, excerpt, correlation_id)
        SELECT gen_random_uuid(), 'game', '', sha256(''), '', '' FROM generate_series(1, 20000);
        INSERT INTO verification.facts (id, cause, key, revision, type, version, correlation_id, occurred_at, body)
        SELECT gen_random_uuid(), gen_random_uuid(), n::text, 0, 'purchase.verified', 1, '', 0, ''
        FROM generate_series(1, 100000) n;
        """

    @Test func `what was planned on empty tables goes by index on a hundred thousand rows`() async throws {
        try await VerificationDatabase.with("plans") { verification in
            // The server's own ANALYZE would come at any moment.
            for table in ["headers", "evidence", "quarantine", "facts", "unannounced"] {
                try verification.database.execute("ALTER TABLE verification.\(table) SET (autovacuum_enabled = false)")
            }
            var session = try verification.open()
            let batch = try (1...40).map { try submission(try World().sign(String(900_000 + $0))) }
            // Twice: once a header and the quarantine are new, then they are known.
            for _ in 1...2 { try session.check(batch + [try submission("forged")]) }
            try verification.database.execute(Self.fill)
            for statistics in ["", "ANALYZE"] {
                try verification.database.execute(statistics)
                // As lanes do, see PlanRenewal.
                _ = try session.connection.query(PlanRenewal.statement)
                // Another lane's handler asks for the header anew.
                session.handler = try VerificationDatabase.handler()
                for _ in 1...2 { try session.check(batch + [try submission("forged")]) }
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
            FROM pg_stat_xact_user_tables WHERE schemaname = 'verification'
            """
        var handler = self.handler
        #expect(throws: RollBack.self) {
            try connection.transaction { transaction in
                let before = try transaction.query(reads).single()
                let outcomes = try handler.handle(batch, in: &transaction)
                let store = FactStore(schema: VerificationProgram.name)
                _ = try store.save(
                    outcomes.flatMap(\.facts), recalling: batch.map(\.header.id), retiring: [1], in: &transaction)
                let after = try transaction.query(reads).single()
                #expect(try after.int8("scanned") == before.int8("scanned"))
                // A row or two for each message, and the header.
                #expect(try after.int8("fetched") - before.int8("fetched") <= Int64(batch.count * 4))
                throw RollBack()
            }
        }
        self.handler = handler
    }
}
