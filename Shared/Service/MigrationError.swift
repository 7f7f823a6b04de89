public import Postgres

/// Why a schema cannot be brought up to date, or not be used.
public enum MigrationError: Error, Sendable, Equatable {
    /// A file whose name is not `V<number>_<name>.sql`, or whose content is not UTF-8.
    case invalidFile(String)
    /// A schema name that is not a plain lower-case identifier.
    case invalidSchema(String)
    /// The program's steps are not 1, 2, 3, …: this one is missing or doubled.
    case notContiguous(version: Int)
    /// The schema is not there, or the role may not use it: the deployment script makes schemas and roles.
    case schemaMissing(String)
    /// A step that was applied differs from the program's step of that number.
    case changed(version: Int, name: String)
    /// The database was migrated by a newer program than this one.
    case databaseNewer(database: Int, program: Int)
    /// An older step is missing in the database although newer ones were applied.
    case gap(version: Int)
    /// Another process is migrating this schema and did not finish in time.
    case locked(schema: String)
    /// A step failed; it was rolled back, the steps before it stay applied.
    case failed(version: Int, name: String, PostgresError)
    /// The database could not be asked.
    case database(PostgresError)

    /// A stable code for logs.
    public var code: String {
        switch self {
        case .invalidFile: "migration.invalid_file"
        case .invalidSchema: "migration.invalid_schema"
        case .notContiguous: "migration.not_contiguous"
        case .schemaMissing: "migration.schema_missing"
        case .changed: "migration.changed"
        case .databaseNewer: "migration.database_newer"
        case .gap: "migration.gap"
        case .locked: "migration.locked"
        case .failed: "migration.failed"
        case .database: "migration.database"
        }
    }

    /// Whether the same program can succeed later without anybody changing it or the schema.
    public var isRetryable: Bool {
        switch self {
        case .locked: true
        case .failed(_, _, let error), .database(let error): error.isRetryable && error.retryClass != .notReady
        default: false
        }
    }
}

extension MigrationError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .invalidFile(let file): "\(file) is not a migration: name it V001_what_it_does.sql, UTF-8 without NUL"
        case .invalidSchema(let schema): "\(schema) is not a plain lower-case identifier"
        case .notContiguous(let version): "migration \(version) is missing or doubled in this program"
        case .schemaMissing(let schema):
            "schema \(schema) does not exist or may not be used by this role: run the deployment script that makes it"
        case .changed(let version, let name):
            "migration \(version) (\(name)) was changed after it was applied: restore it and add a new one instead"
        case .databaseNewer(let database, let program):
            "the database is at migration \(database), this program knows only \(program): use the newer program"
        case .gap(let version): "migration \(version) was never applied although newer ones were"
        case .locked(let schema): "schema \(schema) is being migrated by another process that did not finish in time"
        case .failed(let version, let name, let error): "migration \(version) (\(name)) failed: \(error)"
        case .database(let error): "\(error)"
        }
    }
}
