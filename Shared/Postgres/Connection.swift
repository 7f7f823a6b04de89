public import Observability

/// A connection to PostgreSQL 15 or newer. Blocking; owned and used by one thread; closed when it goes out of scope.
///
/// Statements are prepared once per connection and text, values travel in binary. After `connectionLost`,
/// `ambiguousCommit` or a fatal server error, ``isUsable`` is false: open a new one.
///
/// A statement outside ``transaction(_:)`` commits itself, so losing the connection there is `ambiguousCommit`.
public struct Connection: ~Copyable {
    private var wire: Wire
    private var statements = StatementCache()
    /// The server's own limit for one statement; `nil`: none.
    private var statementTimeout: Duration?

    /// Time the server has beyond its own limits before it counts as dead: a process that is stopped keeps its TCP
    /// connection, so neither keepalive nor the statement timeout notices.
    var grace = Duration.seconds(10)

    private init(wire: consuming Wire) {
        self.wire = wire
    }

    /// Whether statements can still be sent.
    public var isUsable: Bool { !wire.isBroken }

    /// The process on the server that serves this connection, as in `pg_stat_activity.pid`.
    public var backendProcessID: Int32 { wire.backendProcessID }

    /// Closes the connection; an open transaction is rolled back by the server.
    public mutating func close() { wire.close() }

    /// Runs one statement. Outside a transaction it commits itself.
    public mutating func query(_ sql: String, _ values: [SQLValue] = []) throws(PostgresError) -> Rows {
        let rows = try run([Statement(sql, values)], commit: .atSync)
        return rows[0]
    }

    /// Runs all statements as one transaction in one round trip, BEGIN and COMMIT included.
    /// - Returns: the rows of each statement.
    /// - Throws: the error of the statement that failed; nothing took effect then (except `ambiguousCommit`).
    public mutating func pipeline(_ batch: [Statement]) throws(PostgresError) -> [Rows] {
        guard !batch.isEmpty else { return [] }
        do {
            let rows = try commit(after: [Self.begin] + batch)
            return Array(rows.dropFirst())
        } catch {
            rollBackIfOpen()
            throw error
        }
    }

    /// Runs `body` between BEGIN and COMMIT. BEGIN travels with the first statement; what the body enqueued travels with
    /// COMMIT. If the body throws, everything is rolled back and its error rethrown; an error of a statement dooms the
    /// transaction even if the body ignores it (there are no savepoints).
    /// - Throws: what the body throws, or a `PostgresError`; `ambiguousCommit` if the connection broke during COMMIT.
    public mutating func transaction<Result>(_ body: (inout Transaction) throws -> Result) throws -> Result {
        try transaction(endingWith: { (try body(&$0), []) }).result
    }

    /// Like ``transaction(_:)``, but the body also gives the last statements, which travel with COMMIT in one round trip.
    /// - Returns: what the body gave, and the rows of the last statements: they are read only once everything is
    ///   committed.
    public mutating func transaction<Result>(
        endingWith body: (inout Transaction) throws -> (Result, last: [Statement])
    ) throws -> (result: Result, rows: [Rows]) {
        var transaction = Transaction(connection: self)
        let outcome: Swift.Result<(result: Result, rows: [Rows]), any Error>
        do {
            let (result, last) = try body(&transaction)
            outcome = .success((result, try transaction.commit(with: last)))
        } catch {
            transaction.rollBack()
            outcome = .failure(error)
        }
        self = transaction.release()
        return try outcome.get()
    }

    /// Runs a script of several statements by the simple protocol, for migrations and set-up. Without BEGIN inside it is
    /// one implicit transaction. There is no client-side deadline.
    public mutating func executeScript(_ sql: String) throws(PostgresError) {
        try run(script: sql, isInTransaction: false)
        guard wire.isIdle else {
            rollBackIfOpen()
            throw .rolledBack
        }
    }
}

extension Connection {
    static let begin = Statement("BEGIN")

    /// Connection options a conninfo string may override. Together they bound how long a dead server goes unnoticed:
    /// 3 s to connect, 25 s idle, 10 s with data on the way (without them the kernel retries for about 15 minutes).
    private static let overridable = [
        (keyword: "connect_timeout", value: "3"), ("keepalives", "1"), ("keepalives_idle", "10"),
        ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "10000"),
        // After a failover never stay on a replica.
        ("target_session_attrs", "read-write"),
        // Do not search for Kerberos credentials first.
        ("gssencmode", "disable"),
    ]

    /// Session settings the caller may override.
    private static let defaultParameters = [
        // A plan frozen while tables were empty stays wrong for ever (measured: 10 times slower grants). Whoever runs the
        // same few statements for ever takes `plansByIndex` instead.
        "plan_cache_mode": "force_custom_plan",
        // Compiling a plan costs more than any statement here takes; misjudged row counts must not trigger it.
        "jit": "off",
        "statement_timeout": "5s",
        "lock_timeout": "2s",
        // A transaction holds locks: a client that hangs inside one is cut off.
        "idle_in_transaction_session_timeout": "10s",
        "synchronous_commit": "on",
    ]

    /// Session settings for whoever runs the same statements for ever, by keys: each is planned once per connection, and
    /// only plans that go by index are left to choose from, so that one made on empty tables is right for full ones.
    ///
    /// Planning anew for each execution, foreign keys' checks included, costs more than the statements themselves. Not for
    /// statements that read most of a table, or whose best plan depends on their values.
    public static let plansByIndex = [
        "plan_cache_mode": "force_generic_plan",
        "enable_seqscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
    ]

    /// Opens a connection.
    /// - Parameters:
    ///   - conninfo: a libpq connection string, `host=… dbname=… user=… password=…` or a `postgresql://` URI.
    ///   - applicationName: shown in `pg_stat_activity`.
    ///   - parameters: session settings, over the defaults: custom plans, statement timeout 5 s, lock timeout 2 s, idle
    ///     in transaction 10 s, synchronous commit, no JIT.
    ///   - acceptsReadOnly: also a session that may only read will do: a role with `default_transaction_read_only`, or a
    ///     standby.
    /// - Throws: `cannotConnect`, or `server` if a setting is refused.
    public static func open(
        _ conninfo: Secret, applicationName: String, parameters: [String: String] = [:], acceptsReadOnly: Bool = false
    ) throws(PostgresError) -> Connection {
        let text = conninfo.reveal()
        guard Wire.isValid(conninfo: text) else { throw .invalidConnectionString }
        var fixed = [(keyword: "application_name", value: applicationName), ("client_encoding", "UTF8")]
        if acceptsReadOnly { fixed.append(("target_session_attrs", "any")) }
        let wire = try Wire.connect(overridable + [("dbname", text)] + fixed)
        var connection = Connection(wire: wire)
        try connection.configure(defaultParameters.merging(parameters) { _, given in given })
        return connection
    }

    /// Opens a connection by a conninfo string that holds no secret.
    public static func open(
        _ conninfo: String, applicationName: String, parameters: [String: String] = [:]
    ) throws(PostgresError) -> Connection {
        try open(Secret(conninfo), applicationName: applicationName, parameters: parameters)
    }

    private mutating func configure(_ parameters: [String: String]) throws(PostgresError) {
        let sorted = parameters.sorted { $0.key < $1.key }
        statementTimeout = .seconds(5)
        _ = try query(
            "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS given(name, value)",
            [.textArray(sorted.map(\.key)), .textArray(sorted.map(\.value))])
        let row = try query(
            "SELECT (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::bigint AS timeout"
        ).single()
        let milliseconds = try row.int8("timeout")
        statementTimeout = milliseconds > 0 ? .milliseconds(milliseconds) : nil
    }
}

extension Connection {
    /// Where a round trip makes its changes permanent.
    enum Commit {
        /// Nowhere: a transaction stays open.
        case nowhere
        /// At its end: a statement outside a transaction.
        case atSync
        /// By the COMMIT at this index.
        case statement(Int)
    }

    /// Sends statements in one round trip and gives the rows of each.
    mutating func run(_ batch: [Statement], commit: Commit) throws(PostgresError) -> [Rows] {
        guard isUsable else { throw .connectionLost("it was closed before") }
        var parameters: [EncodedParameters] = []
        for statement in batch { parameters.append(try EncodedParameters(statement.values)) }
        var commands: [Wire.Command] = []
        var places: [Int] = []  // the command that answers each statement
        var prepared: [(place: Int, sql: String, name: String)] = []
        for (statement, parameters) in zip(batch, parameters) {
            switch statements.plan(statement.sql, parameters.types) {
            case .ready(let name): commands.append(.execute(name: name, parameters))
            case .unprepared: commands.append(.executeOnce(sql: statement.sql, parameters))
            case .prepare(let name, let types):
                prepared.append((commands.count, statement.sql, name))
                statements.add(statement.sql, name: name, types: types)
                commands.append(.prepare(name: name, sql: statement.sql, types: types))
                commands.append(.execute(name: name, parameters))
            }
            places.append(commands.count - 1)
        }
        let patience = statementTimeout.map { $0 * batch.count + grace }
        let flight = wire.fly(commands, patience: patience)
        for new in prepared where new.place >= flight.results.count { statements.remove(new.sql, name: new.name) }
        let isCommitted = if case .statement(let index) = commit { flight.results.count > places[index] } else { false }
        if !isCommitted { try check(flight.ending, commit, places) }
        return places.map { flight.results[$0] }
    }

    private mutating func check(
        _ ending: Wire.Ending, _ commit: Commit, _ places: [Int]
    ) throws(PostgresError) {
        switch ending {
        case .complete: return
        case .lost(let message):
            if case .nowhere = commit { throw .connectionLost(message) }
            throw .ambiguousCommit(message)
        case .refused(let place, let report, let isFatal):
            if report.sqlState == "26000" || report.sqlState == "0A000" {
                statements.removeAll()  // gone from the server, or its result type was changed by a migration
            }
            switch commit {
            case .atSync where isFatal: throw .ambiguousCommit(report.message)
            case .statement(let index) where isFatal && place >= places[index]:
                throw .ambiguousCommit(report.message)
            default: throw .server(report)
            }
        }
    }

    /// Sends statements and COMMIT in one round trip and checks that COMMIT did commit: of a failed transaction it
    /// succeeds with the tag ROLLBACK.
    mutating func commit(after batch: [Statement]) throws(PostgresError) -> [Rows] {
        var rows = try run(batch + [Statement("COMMIT")], commit: .statement(batch.count))
        guard rows.popLast()?.commandTag == "COMMIT" else { throw .rolledBack }
        return rows
    }

    /// Ends what is left of a transaction. A failure leaves the connection unusable, which ends it as well.
    mutating func rollBackIfOpen() {
        guard isUsable, !wire.isIdle else { return }
        do {
            _ = try run([Statement("ROLLBACK")], commit: .nowhere)
        } catch {
            wire.close()
        }
    }

    /// Whether a transaction is open and sound.
    var isInTransaction: Bool { wire.isInTransaction }

    mutating func run(script: String, isInTransaction: Bool) throws(PostgresError) {
        guard isUsable else { throw .connectionLost("it was closed before") }
        guard !script.utf8.contains(0) else {
            throw .invalidParameter(number: 0, sqlState: "22021", problem: "the script contains a NUL character")
        }
        let ending = wire.run(script: script)
        if case .complete = ending { return }
        let error: PostgresError
        do {
            try check(ending, isInTransaction ? .nowhere : .atSync, [])
            return
        } catch let failure {
            error = failure
        }
        rollBackIfOpen()
        throw error
    }
}
