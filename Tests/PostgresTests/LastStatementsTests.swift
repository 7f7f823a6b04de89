import TestSupport
import Testing

@testable import Postgres

/// Statements that travel with COMMIT, and their rows.
@Suite struct LastStatementsTests {
    @Test func `the rows of the last statements come with the commit, what was enqueued before them is theirs to see`()
        async throws
    {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE lasting (n bigint PRIMARY KEY)")
            let (word, rows) = try connection.transaction(endingWith: { transaction in
                transaction.enqueue("INSERT INTO lasting VALUES (1)")
                return (
                    "done",
                    last: [
                        Statement("INSERT INTO lasting VALUES (2), (1) ON CONFLICT DO NOTHING RETURNING n"),
                        Statement("SELECT count(*) AS n FROM lasting"),
                    ]
                )
            })
            #expect(word == "done")
            #expect(try rows.map { try $0.map { try $0.int8("n") } } == [[2], [2]])
            #expect(try connection.query("SELECT count(*) AS n FROM lasting").single().int8("n") == 2)
        }
    }

    @Test func `a last statement that fails undoes everything`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE undone_at_commit (n bigint PRIMARY KEY)")
            let error = try failure {
                _ = try connection.transaction(endingWith: { transaction in
                    _ = try transaction.query("INSERT INTO undone_at_commit VALUES (1)")
                    return ((), last: [Statement("SELECT 1"), Statement("INSERT INTO undone_at_commit VALUES (1)")])
                })
            }
            #expect(error?.sqlState == "23505")
            #expect(try connection.query("SELECT count(*) AS n FROM undone_at_commit").single().int8("n") == 0)
        }
    }
}
