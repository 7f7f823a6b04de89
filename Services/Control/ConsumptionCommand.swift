import Messages
import Observability
import Postgres

/// `purser consumption list`: Apple's questions about the use of purchases, and what came of them. Reads only.
struct ConsumptionCommand {
    static let usage = """
        usage: purser consumption list [--state pending|sent|refused|skipped|expired] [--app APP]
                                       [--transaction ID] [--limit NUMBER]
          newest first, 50 without --limit; times are UTC
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    struct Options: Equatable {
        var state: String?
        var app: String?
        var transaction: String?
        var limit: Int64 = 50

        static let states = ["pending", "sent", "refused", "skipped", "expired"]
        /// More is for SQL.
        static let mostRows: Int64 = 10_000

        /// Nil if the words are no usage.
        init?(_ arguments: [String]) {
            guard arguments.first == "list" else { return nil }
            var rest = arguments.dropFirst()
            while let word = rest.popFirst() {
                guard let value = rest.popFirst(), !value.isEmpty else { return nil }
                switch word {
                case "--state" where Self.states.contains(value): state = value
                case "--app": app = value
                case "--transaction": transaction = value
                case "--limit":
                    guard let number = Int64(value), (1...Self.mostRows).contains(number) else { return nil }
                    limit = number
                default: return nil
                }
            }
        }
    }

    /// Exit code: 0 done, 1 unreachable, 2 wrong usage or settings. Blocks.
    func run(arguments: [String]) -> Int32 {
        guard let options = Options(arguments) else {
            output(Self.usage)
            return 2
        }
        return ReadingDesk.with(environment, for: "consumption", output) { connection in
            try list(options, &connection)
            return 0
        }
    }

    private func list(_ options: Options, _ connection: inout Connection) throws {
        let rows = try connection.query(
            Self.sql,
            [.text(options.state), .text(options.app), .text(options.transaction), .int8(options.limit)])
        for row in rows { output(try Self.line(row)) }
        output("\(rows.count) listed")
    }

    private static let sql = """
        SELECT r.app, r.environment, r.transaction_id, r.notification_uuid::text AS uuid, r.state, r.reason, r.attempts,
            to_char(to_timestamp(r.signed_date / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS asked,
            to_char(to_timestamp(r.deadline / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS until,
            to_char(to_timestamp(r.ended_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS ended,
            a.version, a.outcome, a.apple_code
        FROM intake.consumption_requests r
        LEFT JOIN LATERAL (SELECT * FROM intake.consumption_attempts l WHERE l.environment = r.environment
            AND l.notification_uuid = r.notification_uuid ORDER BY l.attempt DESC LIMIT 1) AS a ON true
        WHERE ($1::text IS NULL OR r.state = $1) AND ($2::text IS NULL OR r.app = $2)
            AND ($3::text IS NULL OR r.transaction_id = $3)
        ORDER BY r.signed_date DESC, r.notification_uuid LIMIT $4
        """

    private static func line(_ row: Row) throws -> String {
        var words = [
            try row.text("asked"), try row.text("state"), try row.text("reason"), try row.text("app"),
            try row.text("environment"), try row.optionalText("transaction_id") ?? "-", try row.text("uuid"),
        ]
        if let ended = try row.optionalText("ended") {
            words.append("ended \(ended)")
        } else {
            words.append("until \(try row.text("until"))")
        }
        let attempts = try row.int8("attempts")
        guard attempts > 0 else { return words.joined(separator: "  ") }
        let code = try row.optionalInt8("apple_code").map { " \($0)" } ?? ""
        let outcome = try row.optionalText("outcome") ?? "no answer written down"
        words.append("\(attempts) attempt(s), last \(try row.optionalText("version") ?? "") \(outcome)\(code)")
        return words.joined(separator: "  ")
    }
}
