import Observability
import TestSupport
import Testing

@testable import Postgres

@Suite struct ConnectionTests {
    @Test func `a session has custom plans, the timeouts and its name; callers may override`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try Connection.open(
                Secret(database.conninfo), applicationName: "test", parameters: ["lock_timeout": "1234ms"])
            let names = [
                "plan_cache_mode", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout",
                "synchronous_commit", "jit", "application_name", "client_encoding",
            ]
            let rows = try connection.query(
                "SELECT current_setting(name) AS value FROM unnest($1::text[]) AS name", [.textArray(names)])
            #expect(
                try rows.map { try $0.text("value") } == [
                    "force_custom_plan", "5s", "1234ms", "10s", "on", "off", "test", "UTF8",
                ])
            let shown = try connection.query("SHOW plan_cache_mode").single()
            #expect(try shown.text("plan_cache_mode") == "force_custom_plan")
        }
    }

    @Test(arguments: ["host=localhost pasword=canary", "canary", "postgresql://u:canary@h:canary/x", "host='canary"])
    func `a connection string that cannot be parsed is refused without quoting it`(conninfo: String) async throws {
        try await onThread {
            let error = try failure { _ = try Connection.open(conninfo, applicationName: "test") }
            #expect(error == .invalidConnectionString)
            #expect(error?.description.contains("canary") == false)
        }
    }

    @Test func `a session that may only read is refused, unless the caller wants no more`() async throws {
        let database = try await database()
        try await onThread {
            let reading = database.conninfo + " options='-c default_transaction_read_only=on'"
            #expect(throws: PostgresError.self) { _ = try Connection.open(reading, applicationName: "test") }
            var connection = try Connection.open(Secret(reading), applicationName: "test", acceptsReadOnly: true)
            #expect(try connection.query("SELECT 1 AS one").single().int8("one") == 1)
            #expect(throws: PostgresError.self) { _ = try connection.query("CREATE TABLE refused ()") }
        }
    }

    @Test func `a wrong password, an unknown database and a closed port are reasons to wait`() async throws {
        let database = try await database()
        try await onThread {
            for wrong in ["password=canary", "dbname=absent", "port=1"] {
                let error = try failure {
                    _ = try Connection.open("\(database.conninfo) \(wrong)", applicationName: "test")
                }
                guard case .cannotConnect(let message) = error else {
                    Issue.record("\(wrong): \(String(describing: error))")
                    continue
                }
                #expect(error?.retryClass == .wait)
                #expect(!message.contains("canary"))
                #expect(!message.contains("\n"))
            }
        }
    }

    @Test func `a setting the server does not know is an error of the schema's kind`() async throws {
        let database = try await database()
        try await onThread {
            let error = try failure { _ = try database.open(parameters: ["no_such_setting": "1"]) }
            #expect(error?.sqlState == "42704")
            #expect(error?.retryClass == .notReady)
        }
    }

    @Test(arguments: [
        ("synchronous_commit", "off"), ("synchronous_commit", "local"),
        ("default_transaction_isolation", "serializable"),
    ])
    func `settings under which commits may be lost are refused`(name: String, value: String) async throws {
        let database = try await database()
        try await onThread {
            var safe = try database.open()
            try safe.requireSafeSettings()
            var unsafe = try database.open(parameters: [name: value])
            let error = try failure { try unsafe.requireSafeSettings() }
            guard case .unsafeSetting(name, value, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.retryClass == .notReady)
        }
    }

    @Test func `a statement is prepared once, also when some of its values are NULL`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let sql = "SELECT $1::bigint AS a, $2::text AS b"
            for index in 0..<20 {
                let row = try connection.query(
                    sql, [index % 3 == 0 ? .null : .int8(Int64(index)), .text(index % 2 == 0 ? nil : "x")]
                ).single()
                #expect(try row.optionalInt8("a") == (index % 3 == 0 ? nil : Int64(index)))
            }
            let count = try connection.query(
                "SELECT count(*) AS n FROM pg_prepared_statements WHERE statement = $1", [.text(sql)])
            #expect(try count.single().int8("n") <= 2)
        }
    }

    @Test func `more texts than the cache holds still run, and the server does not fill up`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            for index in 0..<(StatementCache.limit + 50) {
                #expect(try connection.query("SELECT \(index) AS n").single().int8("n") == Int64(index))
            }
            let count = try connection.query("SELECT count(*) AS n FROM pg_prepared_statements").single()
            #expect(try count.int8("n") <= Int64(StatementCache.limit))
        }
    }

    @Test func `statements lost by the server are prepared anew after one failure`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            _ = try connection.query("SELECT 1 AS n")
            try connection.executeScript("DEALLOCATE ALL")
            let error = try failure { _ = try connection.query("SELECT 1 AS n") }
            #expect(error?.sqlState == "26000")
            #expect(error?.retryClass == .retryNow)
            #expect(try connection.query("SELECT 1 AS n").single().int8("n") == 1)
        }
    }

    @Test func `a migration under a prepared statement costs one failure, not the connection`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE TABLE migrated (a integer); INSERT INTO migrated VALUES (1)")
            _ = try connection.query("SELECT * FROM migrated")
            try database.execute("ALTER TABLE migrated ALTER a TYPE bigint")
            let error = try failure { _ = try connection.query("SELECT * FROM migrated") }
            #expect(error?.sqlState == "0A000")
            #expect(error?.isRetryable == true)
            #expect(try connection.query("SELECT * FROM migrated").single().int8("a") == 1)
        }
    }

    @Test func `a script runs several statements and an error undoes all of them`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            let error = try failure {
                try connection.executeScript("CREATE TABLE scripted (a int); SELECT 1/0; CREATE TABLE other (a int)")
            }
            #expect(error?.sqlState == "22012")
            let table = try connection.query("SELECT to_regclass('scripted')::text AS name").single()
            #expect(try table.optionalText("name") == nil)
            let open = try failure { try connection.executeScript("BEGIN; SELECT 1") }
            #expect(open == .rolledBack, "a script may not leave a transaction open")
            let copy = try failure { try connection.executeScript("COPY pg_class TO STDOUT") }
            #expect(copy != nil, "nobody talks COPY here")
            let isUsable = connection.isUsable
            #expect(!isUsable)
        }
    }

    @Test func `a closed connection says so`() async throws {
        let database = try await database()
        try await onThread {
            var connection = try database.open()
            connection.close()
            let isUsable = connection.isUsable
            #expect(!isUsable)
            let error = try failure { _ = try connection.query("SELECT 1") }
            guard case .connectionLost = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}
