/// Everything that can go wrong between a caller and PostgreSQL.
///
/// Descriptions never hold bound values, nor the server's DETAIL line: it quotes the offending row.
public enum PostgresError: Error, Sendable, Equatable {
    /// The conninfo string could not be parsed. What was wrong is not told: the place may be a password.
    case invalidConnectionString
    /// No connection could be opened: server away, refused, wrong password, unknown database.
    case cannotConnect(String)
    /// The connection broke and no commit was in flight: nothing of this transaction took effect. Open a new one.
    case connectionLost(String)
    /// The connection broke while a COMMIT, or a statement outside a transaction, was in flight. It may have taken effect
    /// or not: run the idempotent transaction again from its beginning, never assume.
    case ambiguousCommit(String)
    /// The server refused a statement; the transaction was rolled back.
    case server(ServerReport)
    /// COMMIT was answered ROLLBACK: an earlier statement had failed and its error was ignored.
    case rolledBack
    /// A value PostgreSQL could not store, found before anything was sent. Numbered from 1, as in `$1`.
    case invalidParameter(number: Int, sqlState: String, problem: String)
    /// A result column is missing, NULL, or of another type than asked for: code and schema do not fit together.
    case unreadableColumn(name: String, problem: String)
    /// A statement that must give exactly one row gave another number.
    case unexpectedRowCount(Int)
    /// The server runs with a setting under which a committed transaction could be lost, or rows be read differently.
    case unsafeSetting(name: String, value: String, required: String)

    /// What the server said, without what it quoted.
    public struct ServerReport: Sendable, Equatable {
        /// The five-character code (PostgreSQL, Appendix A).
        public let sqlState: String
        /// The primary message; of data errors only the part before a quoted value.
        public let message: String
        /// The violated constraint.
        public let constraint: String?
        /// The table concerned.
        public let table: String?
    }

    /// What to do about an error.
    public enum RetryClass: Sendable, Equatable {
        /// Deadlock or serialisation failure: rolled back; run the whole transaction again at once, a few times.
        case retryNow
        /// Server away, full, or too slow: keep the batch unacknowledged, back off, try again (on a new connection if
        /// ``Connection/isUsable`` is false).
        case wait
        /// The data is at fault (or the statement for this data): run one message a transaction, park the guilty one.
        case dataError
        /// Schema, grants or settings do not fit this code: wait and alert, never park.
        case notReady
        /// It may have been committed: run the idempotent transaction again from its beginning.
        case ambiguous
    }
}

extension PostgresError {
    /// The SQLSTATE, where there is one; for values refused before sending, the one the server would have given.
    public var sqlState: String? {
        switch self {
        case .server(let report): report.sqlState
        case .invalidParameter(_, let sqlState, _): sqlState
        default: nil
        }
    }

    /// The violated constraint.
    public var constraint: String? {
        if case .server(let report) = self { report.constraint } else { nil }
    }

    /// The table concerned.
    public var table: String? {
        if case .server(let report) = self { report.table } else { nil }
    }

    /// What to do about it.
    public var retryClass: RetryClass {
        switch self {
        case .cannotConnect, .connectionLost: .wait
        case .ambiguousCommit: .ambiguous
        case .rolledBack: .retryNow
        case .server(let report): RetryClass(sqlState: report.sqlState)
        case .invalidParameter: .dataError
        case .invalidConnectionString, .unreadableColumn, .unexpectedRowCount, .unsafeSetting: .notReady
        }
    }

    /// Whether trying again can help without changing the data: everything but data errors.
    public var isRetryable: Bool { retryClass != .dataError }

    /// A stable code for logs and metrics.
    public var code: String {
        switch self {
        case .invalidConnectionString: "postgres.invalid_connection_string"
        case .cannotConnect: "postgres.cannot_connect"
        case .connectionLost: "postgres.connection_lost"
        case .ambiguousCommit: "postgres.ambiguous_commit"
        case .server(let report): "postgres.sqlstate.\(report.sqlState)"
        case .rolledBack: "postgres.rolled_back"
        case .invalidParameter: "postgres.invalid_parameter"
        case .unreadableColumn: "postgres.unreadable_column"
        case .unexpectedRowCount: "postgres.unexpected_row_count"
        case .unsafeSetting: "postgres.unsafe_setting"
        }
    }
}

extension PostgresError.RetryClass {
    /// The class of a SQLSTATE (PostgreSQL, Appendix A).
    init(sqlState: String) {
        switch sqlState {
        case "40001", "40P01":  // serialization_failure, deadlock_detected
            self = .retryNow
        case "25P02", "26000":  // an ignored error; a prepared statement that is gone (it is prepared anew)
            self = .retryNow
        case "40003", "08007":  // statement_completion_unknown, transaction_resolution_unknown
            self = .ambiguous
        case "3F000":  // invalid_schema_name
            self = .notReady
        default:
            switch sqlState.prefix(2) {
            // Data exception, constraint violation; cardinality (one row met twice in a batch), program limits (a value
            // too long for its index), view check, and what triggers and functions raise.
            case "22", "23", "21", "54", "44", "P0": self = .dataError
            case "42": self = .notReady
            default: self = .wait
            }
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// For operators: free of values.
    public var description: String {
        switch self {
        case .invalidConnectionString: "the PostgreSQL connection string cannot be parsed"
        case .cannotConnect(let message): "cannot connect to PostgreSQL: \(message)"
        case .connectionLost(let message): "connection to PostgreSQL lost: \(message)"
        case .ambiguousCommit(let message):
            "connection to PostgreSQL lost with a commit in flight, it may have taken effect: \(message)"
        case .server(let report):
            "PostgreSQL \(report.sqlState): \(report.message)"
                + (report.table.map { " (table \($0))" } ?? "")
                + (report.constraint.map { " (constraint \($0))" } ?? "")
        case .rolledBack: "the transaction was rolled back although COMMIT was sent: an earlier statement had failed"
        case .invalidParameter(let number, _, let problem): "parameter $\(number): \(problem)"
        case .unreadableColumn(let name, let problem): "column \(name) \(problem)"
        case .unexpectedRowCount(let count): "expected one row, got \(count)"
        case .unsafeSetting(let name, let value, let required):
            "PostgreSQL runs with \(name) = \(value), required is \(required)"
        }
    }
}
