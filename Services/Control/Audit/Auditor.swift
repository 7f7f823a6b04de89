import AMQP
import Observability
import Postgres

/// Carries out the checks in one snapshot of the database. Blocks; one thread owns it.
struct Auditor {
    /// Where to look, as role `purser_auditor`.
    let database: Secret
    /// The broker, if one is to be asked.
    let broker: AMQPEndpoint?
    let options: AuditOptions

    /// Why an audit could not be carried out, and what to do.
    struct Impossible: Error, Equatable { let sentences: [String] }

    /// What the session is allowed.
    private static let parameters = [
        // Readers of everything take longer than services; the limit is for a query that would never end.
        "statement_timeout": "15min", "lock_timeout": "30s", "idle_in_transaction_session_timeout": "60s",
        "default_transaction_read_only": "on",
        // Sorting and hashing a million lines in memory; beyond that PostgreSQL uses files. One session only.
        "work_mem": "64MB",
        // Every check goes through whole tables once. A plan that loops, taken because row counts were misjudged, would
        // go through one of them for each row of another (seen: hours instead of a second).
        "enable_nestloop": "off",
    ]

    /// Audits everything, or what is new since `state`.
    func run(since state: AuditState?) throws -> AuditReport {
        let clock = ContinuousClock()
        let began = clock.now
        var report = AuditReport()
        report.grace = options.grace
        // Before and after the snapshot: a message that is taken from a queue meanwhile is in one of the readings.
        let before = readQueues()
        do {
            var connection = try Connection.open(
                database, applicationName: "purser audit", parameters: Self.parameters, acceptsReadOnly: true)
            try connection.transaction { transaction in
                _ = try transaction.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                try refuseWriters(in: &transaction)
                try begin(&report, since: state, in: &transaction)
                try check(&report, in: &transaction)
            }
        } catch let error as PostgresError {
            throw Impossible(sentences: ["\(error)", ReadingDesk.advice(for: error)])
        }
        report.broker = Self.merge(before, readQueues())
        report.milliseconds = began.duration(to: clock.now).milliseconds
        return report
    }

    private func readQueues() -> AuditReport.Broker {
        guard let broker else { return .notAsked }
        do throws(AMQPError) {
            return .queues(try AuditQueues.read(broker))
        } catch {
            return .unreachable("\(error)")
        }
    }

    private static func merge(_ before: AuditReport.Broker, _ after: AuditReport.Broker) -> AuditReport.Broker {
        guard case .queues(let one) = before else { return before }
        guard case .queues(let other) = after else { return after }
        return .queues(one.merged(with: other))
    }

    /// An audit by a role that can write proves less, and is a mistake in the settings; one without a snapshot would
    /// compare what was with what is.
    private func refuseWriters(in transaction: inout Transaction) throws {
        let row = try transaction.query(
            """
            SELECT current_user::text AS role, count(*) AS count,
                current_setting('transaction_isolation') || ' ' || current_setting('transaction_read_only') AS mode
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('granting', 'verification', 'intake', 'reconciliation') AND c.relkind IN ('r', 'p')
                AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                    OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
            """
        ).single()
        guard try row.text("mode") == "repeatable read on" else {
            throw Impossible(sentences: [
                "the database does not give one read-only snapshot", "set PURSER_CONTROL_DATABASE to the server itself",
            ])
        }
        let count = try row.int8("count")
        guard count == 0 else {
            throw Impossible(sentences: [
                "the role \(try row.text("role")) may change \(count) table(s), and an audit must not be able to",
                "set PURSER_CONTROL_DATABASE to the conninfo of purser_auditor",
            ])
        }
    }

    private func begin(
        _ report: inout AuditReport, since state: AuditState?, in transaction: inout Transaction
    ) throws {
        let row = try transaction.query(
            """
            SELECT current_database()::text AS name, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
            """
        ).single()
        report.database = try row.text("name")
        report.snapshot = try row.int8("now")
        let stored = state.flatMap { $0.database == report.database ? $0.watermark : nil }
        guard !options.isFull, let time = options.since ?? stored, time < report.snapshot else { return }
        func last(_ number: String, of table: String) throws -> Int64 {
            // Backwards by the primary key, past what is new.
            try transaction.query(
                """
                SELECT coalesce((SELECT \(number) FROM \(table) WHERE created_at <= to_timestamp($1::bigint / 1000.0)
                    ORDER BY \(number) DESC LIMIT 1), 0) AS last
                """, [.int8(time)]
            ).single().int8("last")
        }
        report.scope = AuditScope(
            since: .init(
                time: time, ledger: try last("id", of: "granting.ledger"),
                facts: [
                    "granting": try last("sequence", of: "granting.facts"),
                    "verification": try last("sequence", of: "verification.facts"),
                    "intake": try last("sequence", of: "intake.facts"),
                ]))
    }

    private func check(_ report: inout AuditReport, in transaction: inout Transaction) throws {
        let patience = max(options.grace, AuditCheck.sweepPatience)
        let waiting = AuditCheck.schemas.map { AuditCheck.unannounced($0, grace: patience) }
        var counted: [String: Int64] = [:]
        for check in AuditCheck.all + waiting {
            let began = ContinuousClock.now
            let counts = check.subject.counts(report.scope)
            let examined = try counted[counts] ?? transaction.query(counts).single().int8("count")
            counted[counts] = examined
            // One more than is shown would do; but of `--limit 0` the number is wanted all the same.
            let rows = try transaction.query(check.statement(report.scope, limit: max(1, options.limit)))
            let findings = try rows.prefix(options.limit).map { row in
                AuditReport.Finding(
                    keys: try check.keys.map { (name: $0, value: try row.optionalText($0) ?? "–") },
                    problem: try row.optionalText("problem") ?? "")
            }
            report.outcomes.append(
                AuditReport.Outcome(
                    name: check.name, proves: check.proves, noun: check.subject.noun, examined: examined,
                    total: try rows.first?.int8("total") ?? 0, findings: findings,
                    milliseconds: began.duration(to: .now).milliseconds))
        }
        for check in SightCheck.all {
            let rows = try transaction.query(
                check.statement(report.scope, grace: options.grace, limit: max(1, options.limit)))
            var sight = AuditReport.Sight(check: check)
            sight.total = try rows.first?.int8("total") ?? 0
            sight.unseen = try rows.prefix(options.limit).map { row in
                AuditReport.Unseen(
                    keys: try check.keys.map { (name: $0, value: try row.optionalText($0) ?? "–") },
                    message: try row.text("message"), age: try row.int8("age"),
                    problem: try row.optionalText("problem"))
            }
            report.sights.append(sight)
        }
        report.purchases = try transaction.query(AuditCheck.outcomes(report.scope)).map {
            (outcome: try $0.text("outcome"), count: try $0.int8("count"))
        }
    }
}

extension Duration {
    /// Whole milliseconds.
    fileprivate var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
