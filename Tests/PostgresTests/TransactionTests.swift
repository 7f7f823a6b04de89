import TestSupport
import Testing

@testable import Postgres

@Suite struct TransactionTests {
    private struct Refused: Error {}

    @Test func `what the body does is committed, with what it enqueued, in order`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE kept (n bigint, at bigint GENERATED ALWAYS AS IDENTITY)")
            let count = try connection.transaction { transaction in
                transaction.enqueue("INSERT INTO kept (n) VALUES ($1)", [.int8(1)])
                let count = try transaction.query("SELECT count(*) AS n FROM kept").single().int8("n")
                _ = try transaction.pipeline([
                    Statement("INSERT INTO kept (n) VALUES (2)"), Statement("INSERT INTO kept (n) VALUES (3)"),
                ])
                transaction.enqueue([Statement("INSERT INTO kept (n) VALUES ($1)", [.int8(4)])])
                return count
            }
            #expect(count == 1)
            let kept = try connection.query("SELECT n FROM kept ORDER BY at")
            #expect(try kept.map { try $0.int8("n") } == [1, 2, 3, 4])
        }
    }

    @Test func `enqueued statements alone are committed as well, and an empty body sends nothing`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE enqueued (n bigint)")
            try connection.transaction { $0.enqueue("INSERT INTO enqueued VALUES (1)") }
            try connection.transaction { _ in }
            #expect(try connection.query("SELECT count(*) AS n FROM enqueued").single().int8("n") == 1)
        }
    }

    @Test func `an error of the body rolls back and comes out unchanged`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE thrown (n bigint)")
            do {
                try connection.transaction { transaction in
                    _ = try transaction.query("INSERT INTO thrown VALUES (1)")
                    throw Refused()
                }
                Issue.record("not thrown")
            } catch is Refused {}
            #expect(try connection.query("SELECT count(*) AS n FROM thrown").single().int8("n") == 0)
        }
    }

    @Test func `an error the body ignores still rolls back and is told`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE ignored (n bigint PRIMARY KEY)")
            let error = try failure {
                try connection.transaction { transaction in
                    _ = try transaction.query("INSERT INTO ignored VALUES (1)")
                    _ = try? transaction.query("INSERT INTO ignored VALUES (1)")
                    _ = try? transaction.query("INSERT INTO ignored VALUES (2)")
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(try connection.query("SELECT count(*) AS n FROM ignored").single().int8("n") == 0)
        }
    }

    @Test func `an enqueued statement that fails at the end rolls everything back`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE late (n bigint PRIMARY KEY)")
            let error = try failure {
                try connection.transaction { transaction in
                    _ = try transaction.query("INSERT INTO late VALUES (1)")
                    transaction.enqueue("INSERT INTO late VALUES (1)")
                }
            }
            #expect(error?.sqlState == "23505")
            #expect(try connection.query("SELECT count(*) AS n FROM late").single().int8("n") == 0)
        }
    }

    @Test func `COMMIT of a failed transaction is not taken for a commit`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            _ = try connection.run([Connection.begin], commit: .nowhere)
            #expect(try failure { _ = try connection.run([Statement("SELECT 1/0")], commit: .nowhere) } != nil)
            #expect(try failure { _ = try connection.commit(after: []) } == .rolledBack)
            #expect(try connection.query("SELECT 1 AS n").single().int8("n") == 1)
        }
    }

    @Test(arguments: ["COMMIT", "ROLLBACK"])
    func `a statement that ends the transaction inside the body is an error`(sql: String) async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let error = try failure { try connection.transaction { _ = try $0.query(sql) } }
            #expect(error == .rolledBack)
            let script = try failure { try connection.transaction { try $0.executeScript("SELECT 1; \(sql)") } }
            #expect(script == .rolledBack)
            #expect(try connection.query("SELECT 1 AS n").single().int8("n") == 1)
        }
    }

    @Test func `a script inside a transaction is undone with it`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let error = try failure {
                try connection.transaction { transaction in
                    try transaction.executeScript("CREATE TABLE scripted_inside (n bigint); SELECT 1")
                    _ = try transaction.query("SELECT 1/0")
                }
            }
            #expect(error?.sqlState == "22012")
            let name = try connection.query("SELECT to_regclass('scripted_inside')::text AS name").single()
            #expect(try name.optionalText("name") == nil)
        }
    }
}
