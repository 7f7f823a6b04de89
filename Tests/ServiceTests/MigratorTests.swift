import Postgres
import Service
import TestSupport
import Testing

@Suite struct MigratorTests {
    private static let first = Migration(
        version: 1, name: "things", sql: "CREATE TABLE things (id bigint PRIMARY KEY);")
    private static let second = Migration(
        version: 2, name: "names", sql: "ALTER TABLE things ADD name text; INSERT INTO things VALUES (1, 'a');")

    /// Runs `body` on its own thread with a fresh schema.
    private func inSchema(
        _ schema: String, _ body: @escaping @Sendable (TestDatabase, inout Connection) throws -> Void
    ) async throws {
        let database = try await TestDatabase.shared("migrator")
        try await onThread {
            var connection = try database.open()
            try connection.executeScript("CREATE SCHEMA \(schema)")
            try body(database, &connection)
        }
    }

    @Test func `steps are applied once, in order, each with its checksum`() async throws {
        try await inSchema("stepwise") { _, connection in
            let old = Migrator(schema: "stepwise", migrations: [Self.first])
            #expect(try old.pending(on: &connection) == [Self.first])
            #expect(try old.run(on: &connection) == [Self.first])
            #expect(try old.run(on: &connection).isEmpty)
            let new = Migrator(schema: "stepwise", migrations: [Self.second, Self.first])
            #expect(try new.pending(on: &connection) == [Self.second])
            #expect(try new.run(on: &connection) == [Self.second])
            #expect(try new.pending(on: &connection).isEmpty)
            let rows = try connection.query("SELECT version, name, checksum FROM stepwise.schema_migrations ORDER BY 1")
            #expect(try rows.map { try $0.int4("version") } == [1, 2])
            #expect(try rows.map { try $0.text("name") } == ["things", "names"])
            #expect(try rows.map { try $0.text("checksum") } == [Self.first.checksum, Self.second.checksum])
            #expect(try connection.query("SELECT name FROM stepwise.things").single().text("name") == "a")
        }
    }

    @Test func `a step that fails is rolled back whole and the ones before it stay`() async throws {
        try await inSchema("halfway") { _, connection in
            let broken = Migration(version: 2, name: "broken", sql: "CREATE TABLE half (id bigint); SELECT 1/0;")
            do {
                _ = try Migrator(schema: "halfway", migrations: [Self.first, broken]).run(on: &connection)
                Issue.record("not refused")
            } catch MigrationError.failed(2, "broken", let error) {
                #expect(error.sqlState == "22012")
            }
            let table = try connection.query("SELECT to_regclass('halfway.half')::text AS name").single()
            #expect(try table.optionalText("name") == nil)
            let repaired = Migrator(schema: "halfway", migrations: [Self.first, Self.second])
            #expect(try repaired.run(on: &connection) == [Self.second])
        }
    }

    @Test func `a step may not end its transaction`() async throws {
        try await inSchema("ended") { _, connection in
            let migrator = Migrator(schema: "ended", migrations: [Migration(version: 1, name: "x", sql: "COMMIT")])
            #expect(throws: MigrationError.failed(version: 1, name: "x", .rolledBack)) {
                _ = try migrator.run(on: &connection)
            }
        }
    }

    @Test func `a changed step, a newer database and gaps are refused by run and by pending`() async throws {
        try await inSchema("refused") { _, connection in
            _ = try Migrator(schema: "refused", migrations: [Self.first, Self.second]).run(on: &connection)
            let changed = Migration(version: 1, name: "things", sql: Self.first.sql + " ")
            try Self.expect(.changed(version: 1, name: "things"), [changed, Self.second], &connection)
            try Self.expect(.databaseNewer(database: 2, program: 1), [Self.first], &connection)
            _ = try connection.query("DELETE FROM refused.schema_migrations WHERE version = 1")
            try Self.expect(.gap(version: 1), [Self.first, Self.second], &connection)
        }
    }

    private static func expect(
        _ expected: MigrationError, _ migrations: [Migration], _ connection: inout Connection
    ) throws {
        let migrator = Migrator(schema: "refused", migrations: migrations)
        #expect(throws: expected) { _ = try migrator.run(on: &connection) }
        #expect(throws: expected) { _ = try migrator.pending(on: &connection) }
        #expect(!expected.isRetryable)
    }

    @Test(arguments: [
        ([1, 3], 2), ([2], 1), ([1, 1], 2), ([0, 1], 1),
    ])
    func `steps of a program are numbered from one without gaps`(versions: [Int], missing: Int) async throws {
        try await inSchema("numbered_\(versions.map(String.init).joined(separator: "_"))") { _, connection in
            let migrator = Migrator(
                schema: "numbered", migrations: versions.map { Migration(version: $0, name: "x", sql: "SELECT 1") })
            #expect(throws: MigrationError.notContiguous(version: missing)) { _ = try migrator.run(on: &connection) }
        }
    }

    @Test func `a missing schema and a name that would need quoting are told`() async throws {
        try await inSchema("present") { _, connection in
            let missing = Migrator(schema: "absent", migrations: [Self.first])
            #expect(throws: MigrationError.schemaMissing("absent")) { _ = try missing.run(on: &connection) }
            for name in ["", "a;b", "A", "1a", "a\"b", String(repeating: "a", count: 64)] {
                let migrator = Migrator(schema: name, migrations: [Self.first])
                #expect(throws: MigrationError.invalidSchema(name)) { _ = try migrator.run(on: &connection) }
            }
        }
    }

    @Test func `while another process migrates, run waits and then says so`() async throws {
        try await inSchema("contended") { database, connection in
            var other = try database.open()
            let migrator = Migrator(schema: "contended", migrations: [Self.first])
            _ = try other.query(
                "SELECT pg_advisory_lock(hashtextextended('purser migration of ' || $1, 0))", [.text("contended")])
            #expect(throws: MigrationError.locked(schema: "contended")) {
                _ = try migrator.run(on: &connection, patience: .milliseconds(150))
            }
            #expect(MigrationError.locked(schema: "contended").isRetryable)
            other.close()
            #expect(try migrator.run(on: &connection) == [Self.first])
            let held = try connection.query(
                "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
            #expect(try held.single().int8("n") == 0, "the lock is given back")
        }
    }

    @Test func `two processes at once apply each step once`() async throws {
        let database = try await TestDatabase.shared("migrator")
        try await onThread { try database.execute("CREATE SCHEMA raced") }
        let migrator = Migrator(schema: "raced", migrations: [Self.first, Self.second])
        @Sendable func run() async throws -> Int {
            try await onThread {
                var connection = try database.open()
                return try migrator.run(on: &connection).count
            }
        }
        async let one = run()
        async let other = run()
        let applied = try await one + other
        #expect(applied == 2)
    }

    @Test func `a service's role sees what is pending but cannot migrate`() async throws {
        try await inSchema("served") { database, connection in
            try database.createRole("purser_test_served")
            let migrator = Migrator(schema: "served", migrations: [Self.first])
            var service = try database.open(role: "purser_test_served")
            #expect(throws: MigrationError.schemaMissing("served")) { _ = try migrator.pending(on: &service) }
            try connection.executeScript("GRANT USAGE ON SCHEMA served TO purser_test_served")
            #expect(try migrator.pending(on: &service) == [Self.first])
            do {
                _ = try migrator.run(on: &service)
                Issue.record("not refused")
            } catch MigrationError.database(let error) {
                #expect(error.sqlState == "42501")
            }
            _ = try migrator.run(on: &connection)
            #expect(try migrator.pending(on: &service).isEmpty)
        }
    }

    @Test func `a step meeting a lock of a running service tries again and then gives up`() async throws {
        try await inSchema("busy") { database, connection in
            _ = try Migrator(schema: "busy", migrations: [Self.first]).run(on: &connection)
            var service = try database.open()
            try service.transaction { transaction in
                _ = try transaction.query("SELECT * FROM busy.things")
                var migrating = try database.open(parameters: ["lock_timeout": "20ms"])
                do {
                    _ = try Migrator(schema: "busy", migrations: [Self.first, Self.second]).run(on: &migrating)
                    Issue.record("not refused")
                } catch MigrationError.failed(2, _, let error) {
                    #expect(error.sqlState == "55P03")
                }
            }
            let migrator = Migrator(schema: "busy", migrations: [Self.first, Self.second])
            #expect(try migrator.run(on: &connection) == [Self.second])
        }
    }

    @Test func `a file's name gives version and name`() throws {
        let migration = try Migration(file: "V012_add_lots.sql", bytes: Array("SELECT 1".utf8))
        #expect(migration == Migration(version: 12, name: "add_lots", sql: "SELECT 1"))
        #expect(migration.checksum == "e004ebd5b5532a4b85984a62f8ad48a81aa3460c1ca07701f386135d72cdecf5")
    }

    @Test(arguments: [
        ("001_a.sql", [UInt8(0x20)]), ("V001.sql", [0x20]), ("Vx_a.sql", [0x20]), ("V0_a.sql", [0x20]),
        ("V001_a.txt", [0x20]), ("V001_a.sql", [0xFF]), ("V001_a.sql", [0]),
    ])
    func `a file that is no migration is refused`(file: String, bytes: [UInt8]) {
        #expect(throws: MigrationError.invalidFile(file)) { _ = try Migration(file: file, bytes: bytes) }
    }
}
