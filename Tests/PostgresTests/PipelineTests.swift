import Postgres
import TestSupport
import Testing

@Suite struct PipelineTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a pipeline gives the same as its statements one by one`(seed: UInt64) async throws {
        let database = try await database()
        try await onThread {
            var random = SeededGenerator(seed: seed)
            var connection = try database.open()
            for table in ["piped_\(seed)", "single_\(seed)"] {
                try connection.executeScript("CREATE TABLE \(table) (id bigint PRIMARY KEY, v text)")
            }
            var batches: [[(sql: String, values: [SQLValue])]] = []
            for _ in 0..<10 {
                batches.append(
                    (0..<20).map { _ in
                        let id = SQLValue.int8(Int64.random(in: 0..<30, using: &random))
                        let value = SQLValue.text(Bool.random(using: &random) ? "v\(random.next() % 9)" : nil)
                        switch Int.random(in: 0..<3, using: &random) {
                        case 0:
                            return (
                                "INSERT INTO TABLE_ VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET v = $2 RETURNING v",
                                [id, value]
                            )
                        case 1: return ("DELETE FROM TABLE_ WHERE id = $1 RETURNING v", [id])
                        default: return ("SELECT id, v FROM TABLE_ WHERE id >= $1 ORDER BY id", [id])
                        }
                    })
            }
            for batch in batches {
                let piped = try connection.pipeline(
                    batch.map { Statement($0.sql.replacing("TABLE_", with: "piped_\(seed)"), $0.values) })
                #expect(piped.count == batch.count)
                for (statement, rows) in zip(batch, piped) {
                    let single = try connection.query(
                        statement.sql.replacing("TABLE_", with: "single_\(seed)"), statement.values)
                    #expect(single.commandTag == rows.commandTag)
                    #expect(try single.map { try $0.optionalText("v") } == rows.map { try $0.optionalText("v") })
                }
            }
        }
    }

    @Test func `one failing statement undoes all, and its error is the one that is told`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE undone (id bigint PRIMARY KEY)")
            let insert = "INSERT INTO undone VALUES ($1)"
            let error = try failure {
                _ = try connection.pipeline([
                    Statement(insert, [.int8(1)]), Statement(insert, [.int8(1)]), Statement("SELECT nonsense"),
                    Statement(insert, [.int8(2)]),
                ])
            }
            #expect(error?.sqlState == "23505")
            #expect(error?.constraint == "undone_pkey")
            #expect(try connection.query("SELECT count(*) AS n FROM undone").single().int8("n") == 0)
            _ = try connection.pipeline([Statement(insert, [.int8(1)]), Statement(insert, [.int8(2)])])
            #expect(try connection.query("SELECT count(*) AS n FROM undone").single().int8("n") == 2)
        }
    }

    @Test func `a deferred constraint fails the COMMIT and is told as its own error`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript(
                """
                CREATE TABLE parent (id bigint PRIMARY KEY);
                CREATE TABLE child (id bigint REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
                """)
            let piped = try failure {
                _ = try connection.pipeline([Statement("INSERT INTO child VALUES ($1)", [.int8(1)])])
            }
            #expect(piped?.sqlState == "23503")
            // Outside a transaction the commit happens at the sync point, after the statement was answered.
            let single = try failure { _ = try connection.query("INSERT INTO child VALUES ($1)", [.int8(1)]) }
            #expect(single?.sqlState == "23503")
            #expect(single?.constraint == "child_id_fkey")
            let isUsable = connection.isUsable
            #expect(isUsable)
            #expect(try connection.query("SELECT count(*) AS n FROM child").single().int8("n") == 0)
        }
    }

    @Test func `much data both ways at once does not lock up`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let large = String(repeating: "x", count: 200_000)
            let rows = try connection.pipeline(
                Array(repeating: Statement("SELECT $1::text AS t", [.text(large)]), count: 200))
            #expect(rows.count == 200)
            for result in rows { #expect(try result.single().text("t").utf8.count == 200_000) }
        }
    }

    @Test func `an empty pipeline sends nothing`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            #expect(try connection.pipeline([]).isEmpty)
        }
    }

    @Test func `a value that cannot be sent leaves the connection as it was`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let error = try failure {
                _ = try connection.pipeline([Statement("SELECT 1"), Statement("SELECT $1", [.text("a\u{0}")])])
            }
            #expect(error?.sqlState == "22021")
            #expect(try connection.query("SELECT 1 AS n").single().int8("n") == 1)
        }
    }
}
