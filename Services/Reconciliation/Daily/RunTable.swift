import Messages
import Pipeline
import Postgres

/// `reconciliation.runs` and `.run_requests`.
enum RunTable {
    /// Begins a run, or goes on with one that was broken off: its lines are there then, and the place where it goes on.
    static func begin(_ plan: DayPlan, now: Int64, in transaction: inout Transaction) throws -> PurchaseKey? {
        let place = try transaction.query(
            """
            SELECT place_environment, place_transaction FROM reconciliation.runs
            WHERE app = $1 AND day = $2::text::date AND state = 'running' AND place_transaction IS NOT NULL
                AND to_at = $3 AND began_at > $4
            """,
            // What is older than an hour is begun anew: the books have changed since.
            [.text(plan.app), .text(plan.day), .int8(plan.to), .int8(now - 3_600_000)]
        ).first
        if let place, let environment = StoreEnvironment(rawValue: try place.text("place_environment")) {
            return PurchaseKey(
                environment: environment, transactionID: TransactionID(try place.text("place_transaction")))
        }
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.runs AS r (app, day, time_zone, from_at, to_at, state, began_at)
            VALUES ($1, $2::text::date, $3, $4, $5, 'running', $6)
            ON CONFLICT (app, day) DO UPDATE SET time_zone = excluded.time_zone, from_at = excluded.from_at,
                to_at = excluded.to_at, state = 'running', place_environment = NULL, place_transaction = NULL,
                began_at = excluded.began_at
            """,
            [
                .text(plan.app), .text(plan.day), .text(plan.timeZone), .int8(plan.from), .int8(plan.to), .int8(now),
            ])
        try RunLineTable.collect(plan, in: &transaction)
        return nil
    }

    /// Remembers how far its lines are compared.
    static func move(_ plan: DayPlan, to key: PurchaseKey, in transaction: inout Transaction) throws {
        _ = try transaction.query(
            """
            UPDATE reconciliation.runs SET place_environment = $3, place_transaction = $4
            WHERE app = $1 AND day = $2::text::date
            """,
            [
                .text(plan.app), .text(plan.day), .text(key.environment.rawValue), .text(key.transactionID.rawValue),
            ])
    }

    /// Stores the report and ends the run.
    static func end(
        _ plan: DayPlan, totals: String, markdown: String, html: String, now: Int64, in transaction: inout Transaction
    ) throws {
        _ = try transaction.query(
            """
            UPDATE reconciliation.runs SET state = 'done', ended_at = $3, totals = $4, markdown = $5, html = $6,
                place_environment = NULL, place_transaction = NULL
            WHERE app = $1 AND day = $2::text::date
            """,
            [.text(plan.app), .text(plan.day), .int8(now), .json(totals), .text(markdown), .text(html)])
    }

    /// Whether there is a whole report of the day.
    static func isDone(_ plan: DayPlan, on connection: inout Connection) throws -> Bool {
        try !connection.query(
            """
            SELECT 1 AS done FROM reconciliation.runs
            WHERE app = $1 AND day = $2::text::date AND state = 'done' AND to_at = $3
            """, [.text(plan.app), .text(plan.day), .int8(plan.to)]
        ).isEmpty
    }

    /// Drops reports, and the purchases of reports, that are older than they are kept.
    static func keep(reports: Int64, lines: Int64, now: Int64, on connection: inout Connection) throws {
        for (table, days) in [("runs", reports), ("run_lines", lines)] {
            _ = try connection.query(
                """
                DELETE FROM reconciliation.\(table)
                WHERE day < (to_timestamp($1 / 1000.0) AT TIME ZONE 'UTC')::date - $2::bigint::integer
                """, [.int8(now), .int8(days)])
        }
    }

    /// Apps that have sold anything.
    static func apps(on connection: inout Connection) throws -> [String] {
        // Jumps from app to app in the index, however many purchases there are.
        try connection.query(
            """
            WITH RECURSIVE found AS ((SELECT app FROM reconciliation.purchases ORDER BY app LIMIT 1)
                UNION ALL SELECT (SELECT p.app FROM reconciliation.purchases p WHERE p.app > f.app ORDER BY p.app LIMIT 1)
                FROM found f WHERE f.app IS NOT NULL)
            SELECT app FROM found WHERE app IS NOT NULL
            """
        ).map { try $0.text("app") }
    }

    // MARK: - What operators asked for

    /// Somebody's wish, the oldest that waits.
    struct Request {
        let id: Int64
        let day: String
        let app: String?
    }

    /// Writes a wish down, once for each message.
    static func request(
        _ day: String, app: AppID?, cause: MessageID, now: Int64, in transaction: inout Transaction
    ) throws -> Int64 {
        let values: [SQLValue] = [
            .text(day), .text(app?.rawValue), .uuid(UUIDText.parse(cause.rawValue)), .int8(now),
        ]
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.run_requests (day, app, cause, requested_at)
            VALUES ($1::text::date, $2, $3, $4) ON CONFLICT (cause) DO NOTHING
            """, values)
        return try transaction.query(
            "SELECT id FROM reconciliation.run_requests WHERE cause = $1", [.uuid(UUIDText.parse(cause.rawValue))]
        ).single().int8("id")
    }

    /// The oldest wish that waits.
    static func next(on connection: inout Connection) throws -> Request? {
        try connection.query(
            """
            SELECT id, day::text AS day, app FROM reconciliation.run_requests WHERE done_at IS NULL ORDER BY id LIMIT 1
            """
        ).first.map {
            Request(id: try $0.int8("id"), day: try $0.text("day"), app: try $0.optionalText("app"))
        }
    }

    /// It is fulfilled.
    static func finish(_ request: Request, now: Int64, on connection: inout Connection) throws {
        _ = try connection.query(
            "UPDATE reconciliation.run_requests SET done_at = $2 WHERE id = $1", [.int8(request.id), .int8(now)])
    }
}
