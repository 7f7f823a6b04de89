public import Postgres
import Runtime

/// Brings the schema of one service up to date, and tells whether it is.
///
/// The schema itself, and the roles, are made by the deployment script; `purser_migrator` owns the schema and runs this.
/// What was applied is kept in `<schema>.schema_migrations`, readable by whoever may use the schema. Each step is one
/// transaction, so a crash leaves whole steps; two processes at once take turns by an advisory lock. Blocking.
public struct Migrator: Sendable {
    private let schema: String
    private let migrations: [Migration]

    /// How often a step is tried that meets a lock of running services: each try waits for the session's lock timeout.
    private static let attempts = 5

    /// A migrator of `schema` with all steps the program knows, in any order. They are checked when it is used.
    public init(schema: String, migrations: [Migration]) {
        self.schema = schema
        self.migrations = migrations.sorted { $0.version < $1.version }
    }

    /// Applies what is missing.
    /// - Parameters:
    ///   - connection: a session of the schema's owner.
    ///   - patience: how long to wait for another process that is migrating the same schema.
    /// - Returns: the steps that were applied now.
    public func run(
        on connection: inout Connection, patience: Duration = .seconds(30)
    ) throws(MigrationError) -> [Migration] {
        try validate()
        try lock(&connection, patience)
        do throws(MigrationError) {
            try makeTable(&connection)
            let missing = try pending(on: &connection)
            for migration in missing { try apply(migration, &connection) }
            unlock(&connection)
            return missing
        } catch {
            unlock(&connection)
            throw error
        }
    }

    /// The steps the database lacks; empty if the schema is as this program needs it.
    /// - Throws: if what was applied is not what this program knows: changed, newer, or with gaps.
    public func pending(on connection: inout Connection) throws(MigrationError) -> [Migration] {
        try validate()
        let applied = try applied(&connection)
        let newest = applied.keys.max() ?? 0
        for migration in migrations where migration.version <= newest {
            guard let checksum = applied[migration.version] else { throw .gap(version: migration.version) }
            guard checksum == migration.checksum else {
                throw .changed(version: migration.version, name: migration.name)
            }
        }
        guard newest <= migrations.count else {
            throw .databaseNewer(database: newest, program: migrations.count)
        }
        return Array(migrations.dropFirst(newest))
    }

    /// The name is spliced into SQL, so it may only be what needs no quoting; the steps must be 1, 2, 3, ….
    private func validate() throws(MigrationError) {
        let isPlain = schema.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
        // PostgreSQL cuts longer identifiers silently (NAMEDATALEN − 1).
        guard isPlain, let first = schema.first, !first.isNumber, schema.utf8.count <= 63 else {
            throw .invalidSchema(schema)
        }
        for (index, migration) in migrations.enumerated() where migration.version != index + 1 {
            throw .notContiguous(version: index + 1)
        }
    }

    /// Checksums by version.
    private func applied(_ connection: inout Connection) throws(MigrationError) -> [Int: String] {
        do {
            let table = try connection.query(
                """
                SELECT EXISTS (SELECT FROM pg_namespace
                               WHERE nspname = $1 AND has_schema_privilege(oid, 'USAGE')) AS has_schema,
                       EXISTS (SELECT FROM pg_class AS class JOIN pg_namespace AS space ON space.oid = relnamespace
                               WHERE nspname = $1 AND relname = 'schema_migrations') AS has_table
                """, [.text(schema)]
            ).single()
            guard try table.bool("has_schema") else { throw MigrationError.schemaMissing(schema) }
            guard try table.bool("has_table") else { return [:] }
            var checksums: [Int: String] = [:]
            for row in try connection.query("SELECT version, checksum FROM \(schema).schema_migrations") {
                checksums[Int(try row.int4("version"))] = try row.text("checksum")
            }
            return checksums
        } catch {
            throw Self.wrapped(error)
        }
    }

    private func makeTable(_ connection: inout Connection) throws(MigrationError) {
        guard try applied(&connection).isEmpty else { return }
        do {
            try connection.executeScript(
                """
                CREATE TABLE IF NOT EXISTS \(schema).schema_migrations (
                    version integer PRIMARY KEY CHECK (version > 0),
                    name text NOT NULL,
                    checksum text NOT NULL CHECK (length(checksum) = 64),
                    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
                );
                COMMENT ON TABLE \(schema).schema_migrations IS 'Which steps of this schema were applied.';
                GRANT SELECT ON \(schema).schema_migrations TO PUBLIC;
                """)
        } catch {
            throw .database(error)
        }
    }

    private func apply(_ migration: Migration, _ connection: inout Connection) throws(MigrationError) {
        for attempt in 1... {
            do {
                try connection.transaction { transaction in
                    // A large table may take long; what must not last is waiting for locks, during which every other
                    // session queues up behind: that is bounded by the session's lock_timeout.
                    transaction.enqueue("SET LOCAL statement_timeout = 0")
                    transaction.enqueue("SELECT set_config('search_path', $1, true)", [.text(schema)])
                    try transaction.executeScript(migration.sql)
                    _ = try transaction.query(
                        "INSERT INTO \(schema).schema_migrations (version, name, checksum) VALUES ($1, $2, $3)",
                        [.int4(Int32(clamping: migration.version)), .text(migration.name), .text(migration.checksum)])
                }
                return
            } catch let error as PostgresError {
                let isLocked = error.sqlState == "55P03" || error.sqlState == "40P01"
                guard isLocked, attempt < Self.attempts else {
                    throw .failed(version: migration.version, name: migration.name, error)
                }
            } catch {
                throw Self.wrapped(error)
            }
        }
    }

    /// Takes the schema's advisory lock for the session, asking again until `patience` is over.
    private func lock(_ connection: inout Connection, _ patience: Duration) throws(MigrationError) {
        let deadline = ContinuousClock.now + patience
        let never = StopSignal()
        do {
            while true {
                let isTaken = try connection.query("SELECT pg_try_advisory_lock(\(Self.key)) AS taken", [.text(schema)])
                if try isTaken.single().bool("taken") { return }
                guard ContinuousClock.now < deadline else { throw MigrationError.locked(schema: schema) }
                _ = never.wait(for: .milliseconds(100))
            }
        } catch {
            throw Self.wrapped(error)
        }
    }

    /// If this fails the connection is gone, and the lock with it.
    private func unlock(_ connection: inout Connection) {
        _ = try? connection.query("SELECT pg_advisory_unlock(\(Self.key))", [.text(schema)])
    }

    /// The lock's key, from the schema's name. Service roles never take advisory locks of this prefix.
    private static let key = "hashtextextended('purser migration of ' || $1, 0)"

    private static func wrapped(_ error: any Error) -> MigrationError {
        switch error {
        case let error as MigrationError: error
        case let error as PostgresError: .database(error)
        default: .database(.connectionLost("unexpected error"))
        }
    }
}
