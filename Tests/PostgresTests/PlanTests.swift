import Postgres
import TestSupport
import Testing

@Suite struct PlanTests {
    @Test func `a look-up prepared on an empty table uses the index when it has grown, without ANALYZE`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript(
                """
                CREATE TABLE grown (environment text, id text, amount bigint NOT NULL, PRIMARY KEY (environment, id))
                    WITH (autovacuum_enabled = false)
                """)
            let lookUp = """
                SELECT key.id, grown.amount
                FROM unnest($1::text[], $2::text[]) AS key (environment, id)
                JOIN grown ON grown.environment = key.environment AND grown.id = key.id
                ORDER BY key.id
                """
            func values(_ ids: [Int]) -> [SQLValue] {
                [.textArray(ids.map { _ in "Production" }), .textArray(ids.map { "transaction-\($0)" })]
            }
            // More often than the five times after which a generic plan would be considered.
            for _ in 0..<10 { #expect(try connection.query(lookUp, values([1, 2, 3])).isEmpty) }
            _ = try connection.query(
                "INSERT INTO grown SELECT 'Production', 'transaction-' || n, n FROM generate_series(1, 100000) AS n")
            let wanted = (0..<64).map { $0 * 1_000 + 1 }
            try connection.transaction { transaction in
                // What earlier transactions did may not have been flushed yet: only the difference counts.
                let scans = """
                    SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relid = 'grown'::regclass
                    """
                let before = try transaction.query(scans).single()
                let found = try transaction.query(lookUp, values(wanted))
                let after = try transaction.query(scans).single()
                #expect(found.count == 64)
                #expect(try after.int8("seq_scan") - before.int8("seq_scan") == 0)
                #expect(try after.int8("idx_scan") - before.int8("idx_scan") == 64)
            }
        }
    }
}
