import Runtime
import TestSupport
import Testing

@testable import Postgres

/// Error classes produced by real errors.
@Suite struct ServerErrorTests {
    @Test func `constraint violations tell constraint and table, never the row`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript(
                """
                CREATE TABLE strict (id text PRIMARY KEY, amount bigint NOT NULL CONSTRAINT positive CHECK (amount > 0));
                INSERT INTO strict VALUES ('canary', 1)
                """)
            let insert = "INSERT INTO strict VALUES ($1, $2)"
            let expected: [([SQLValue], String, String?)] = [
                ([.text("canary"), .int8(1)], "23505", "strict_pkey"),
                ([.text("canary2"), .int8(-1)], "23514", "positive"),
                ([.text("canary2"), .null], "23502", nil),
            ]
            for (values, sqlState, constraint) in expected {
                let error = try failure { _ = try connection.query(insert, values) }
                #expect(error?.sqlState == sqlState)
                #expect(error?.constraint == constraint)
                #expect(error?.table == "strict")
                #expect(error?.retryClass == .dataError)
                #expect(error?.description.contains("canary") == false)
            }
            let syntax = try failure { _ = try connection.query("SELECT $1::text::uuid", [.text("canary")]) }
            #expect(syntax?.sqlState == "22P02")
            #expect(syntax?.description.contains("canary") == false)
            let range = try failure { _ = try connection.query("SELECT $1::bigint + 1", [.int8(.max)]) }
            #expect(range?.sqlState == "22003")
        }
    }

    @Test(arguments: [
        ("SELECT * FROM absent_table", "42P01"), ("SELECT absent_column FROM pg_class", "42703"), ("SELEC", "42601"),
        ("SELECT * FROM absent_schema.t", "42P01"),
    ])
    func `code that does not fit the schema is not ready`(sql: String, sqlState: String) async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let error = try failure { _ = try connection.query(sql) }
            #expect(error?.sqlState == sqlState)
            #expect(error?.retryClass == .notReady)
        }
    }

    @Test func `a role without the right is not ready`() async throws {
        let database = try await database()
        try await onThread {
            try database.createRole("purser_test_nobody")
            try database.execute("CREATE TABLE forbidden (n bigint)")
            var connection = try database.open(role: "purser_test_nobody")
            let error = try failure { _ = try connection.query("SELECT * FROM forbidden") }
            #expect(error?.sqlState == "42501")
            #expect(error?.retryClass == .notReady)
        }
    }

    @Test func `timeouts of statement and lock are reasons to wait`() async throws {
        let database = try await database()
        try await onThread {
            var slow = try database.open(parameters: ["statement_timeout": "1s"])
            let statement = try failure { _ = try slow.query("SELECT pg_sleep(60)") }
            #expect(statement?.sqlState == "57014")
            #expect(statement?.retryClass == .wait)

            try database.execute("CREATE TABLE locked (n bigint); INSERT INTO locked VALUES (1)")
            var holder = try database.open()
            var waiter = try database.open(parameters: ["lock_timeout": "50ms"])
            try holder.transaction { transaction in
                _ = try transaction.query("SELECT n FROM locked FOR UPDATE")
                let error = try failure { _ = try waiter.query("UPDATE locked SET n = 2") }
                #expect(error?.sqlState == "55P03")
                #expect(error?.retryClass == .wait)
            }
            let isUsable = waiter.isUsable
            #expect(isUsable)
        }
    }

    @Test func `a serialisation failure is worth another try at once`() async throws {
        let database = try await database()
        try await onThread {
            try database.execute("CREATE TABLE serial (n bigint); INSERT INTO serial VALUES (1)")
            var first = try database.open()
            var second = try database.open()
            let error = try failure {
                try first.transaction { transaction in
                    _ = try transaction.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    _ = try transaction.query("SELECT n FROM serial")
                    _ = try second.query("UPDATE serial SET n = 2")
                    _ = try transaction.query("UPDATE serial SET n = 3")
                }
            }
            #expect(error?.sqlState == "40001")
            #expect(error?.retryClass == .retryNow)
        }
    }

    @Test func `a deadlock fails one of the two, which may try again at once`() async throws {
        let database = try await database()
        try await onThread {
            try database.execute("CREATE TABLE crossed (id bigint); INSERT INTO crossed VALUES (1), (2)")
        }
        let holds = [StopSignal(), StopSignal()]
        @Sendable func cross(_ own: Int, _ other: Int) async throws -> PostgresError? {
            try await onThread {
                var connection = try database.open(parameters: ["deadlock_timeout": "50ms"])
                return try failure {
                    try connection.transaction { transaction in
                        let lock = "SELECT FROM crossed WHERE id = $1 FOR UPDATE"
                        _ = try transaction.query(lock, [.int8(Int64(own))])
                        holds[own - 1].stop()
                        #expect(holds[other - 1].wait(for: .seconds(60)))
                        _ = try transaction.query(lock, [.int8(Int64(other))])
                    }
                }
            }
        }
        async let first = cross(1, 2)
        async let second = cross(2, 1)
        let errors = try await [first, second].compactMap { $0 }
        #expect(errors.map(\.sqlState) == ["40P01"])
        #expect(errors.first?.retryClass == .retryNow)
    }
}
