import JSON
import Messages
import Postgres

/// `purser reconcile`: has a day compared now, waits, and tells how it went. Asks over the broker and reads the result as
/// role `purser_auditor`.
struct ReconcileCommand {
    static let usage = """
        usage: purser reconcile --date YYYY-MM-DD [--app APP] [--wait SECONDS]

        Compares a day anew, by the clock of each app: what Apple signed, what was decided, what the wallets hold. The
        report is shown by `purser report`. As often as wanted; of a day that has not ended what there is so far.

          --app    only of this app
          --wait   seconds to wait for the end, 600 without it

        Exit code: 0 nothing critical waits, 1 something does or it could not be done, 2 wrong usage or settings.
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    struct Options: Equatable {
        let date: String
        let app: String?
        let patience: Int64

        /// A day is longer than anybody waits.
        private static let longestWait: Int64 = 86_400

        init(_ arguments: [String]) throws(WordProblem) {
            let words = try CommandWords(arguments, values: ["--date", "--app", "--wait"])
            guard words.plain.isEmpty else { throw WordProblem(text: "\(words.plain[0]) is no option") }
            date = try words.required("--date")
            app = words["--app"]
            patience = try words.count("--wait", default: 600, limit: Self.longestWait)
            guard date.utf8.count == 10, TimeText.seconds(date + "T00:00:00Z") != nil else {
                throw WordProblem(text: "--date is a day like 2026-11-30")
            }
        }
    }

    /// Runs it.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        let options: Options
        do throws(WordProblem) {
            options = try Options(arguments)
        } catch {
            output("purser reconcile: \(error.text)")
            output(Self.usage)
            return 2
        }
        var request: Int64?
        let code = await Desk.with(environment, output) { desk in
            do {
                try await desk.becomeReady()
                request = try await desk.ask(
                    ReconciliationRunRequested(date: options.date, app: options.app.map { AppID($0) }),
                    expecting: ReconciliationRunAnswered.self, app: options.app.map { AppID($0) }
                ).request
                return 0
            } catch {
                output("not done: \(error)")
                return 1
            }
        }
        guard code == 0 else { return code }
        guard let request else {
            output("not done: there is no such day or app")
            return 1
        }
        return await wait(for: request, options)
    }

    nonisolated(nonsending) private func wait(for request: Int64, _ options: Options) async -> Int32 {
        let deadline = ContinuousClock.now + .seconds(options.patience)
        while true {
            var isDone = false
            let code = ReadingDesk.with(environment, for: "reconcile", output) { connection in
                isDone = try !connection.query(
                    "SELECT 1 AS done FROM reconciliation.run_requests WHERE id = $1 AND done_at IS NOT NULL",
                    [.int8(request)]
                ).isEmpty
                return isDone ? try tell(request, &connection) : 0
            }
            guard !isDone, code == 0 else { return code }
            guard ContinuousClock.now < deadline else {
                output("not done yet: request \(request) waits for its turn; `purser report` shows it later")
                return 1
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// A line for each app; 1 if something critical waits.
    private func tell(_ request: Int64, _ connection: inout Connection) throws -> Int32 {
        let rows = try connection.query(
            """
            SELECT r.app, r.day::text AS day, r.time_zone, r.totals, r.ended_at - r.began_at AS time
            FROM reconciliation.run_requests q
            JOIN reconciliation.runs r ON r.day = q.day AND (q.app IS NULL OR r.app = q.app)
            WHERE q.id = $1 AND r.state = 'done' AND r.ended_at >= q.requested_at ORDER BY r.app
            """, [.int8(request)])
        guard !rows.isEmpty else {
            output("no app has sold anything")
            return 0
        }
        var critical: Int64 = 0
        for row in rows {
            let totals = try? JSONReader.parseObject(Array(row.json("totals").utf8))
            func number(_ name: String) -> Int64 { totals?[name]?.intValue ?? 0 }
            critical = max(critical, number("critical"))
            output(
                """
                \(TextTable.printable(try row.text("app"))) \(try row.text("day")) (\(try row.text("time_zone"))): \
                \(number("purchases")) purchases, \(number("granted")) granted, \(number("refunds")) refunds told; \
                \(number("differences")) purchases and \(number("booksDiffer")) wallets differ; \
                \(number("critical")) critical findings wait
                """)
        }
        return critical > 0 ? 1 : 0
    }
}
