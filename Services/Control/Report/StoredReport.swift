import Postgres

/// The report that the daily run has stored, and its purchases.
enum StoredReport {
    /// What is printed of a run.
    enum Format: String {
        case markdown = "md"
        case html
    }

    /// Prints the reports of a day; 1 if there are none, or several where only one can be printed.
    static func show(
        _ options: ReportOptions, _ output: (String) -> Void, _ connection: inout Connection
    ) throws -> Int32 {
        let runs = try connection.query(
            """
            SELECT app, markdown, html FROM reconciliation.runs
            WHERE day = $1::text::date AND ($2::text IS NULL OR app = $2) AND markdown IS NOT NULL ORDER BY app
            """, [.text(options.date), .text(options.app)])
        guard !runs.isEmpty else {
            output("there is no report of \(options.date): `purser reconcile --date \(options.date)` makes it")
            return 1
        }
        if options.format == .html {
            guard runs.count == 1, let run = runs.first else {
                let apps = try runs.map { try $0.text("app") }.joined(separator: ", ")
                output("an HTML page is of one app: --app, one of \(apps)")
                return 1
            }
            output(try run.text("html"))
            return 0
        }
        for run in runs {
            output(try run.text("markdown"))
            if options.listsPurchases { try list(options.date, try run.text("app"), output, &connection) }
        }
        return 0
    }

    /// Rows fetched at once: whatever a day has sold, no more are in memory.
    private static let page: Int64 = 1_000

    /// A-123's columns, line by line.
    private static func list(
        _ day: String, _ app: String, _ output: (String) -> Void, _ connection: inout Connection
    ) throws {
        let columns = [
            "transaction_id", "user (customer)", "apple_product_id", "order_no", "status", "grant_status",
            "refund_status", "given", "ledger", "differs",
        ]
        output("## Every purchase (A-123)\n")
        output("| " + columns.joined(separator: " | ") + " |")
        output("|" + String(repeating: "---|", count: columns.count))
        var (environment, transaction) = ("", "")
        while true {
            let rows = try connection.query(
                """
                SELECT environment, transaction_id, ARRAY[environment || '/' || transaction_id, coalesce(customer, '-'),
                    coalesce(product_id, '-'), coalesce(order_number, '-'), coalesce(order_status, '-'),
                    coalesce(grant_status, '-'), coalesce(refund_status, '-'), coalesce(amounts, ''), coalesce(ledger, ''),
                    coalesce(differences, '')] AS cells
                FROM reconciliation.run_lines
                WHERE app = $1 AND day = $2::text::date AND (environment, transaction_id) > ($3, $4)
                ORDER BY environment, transaction_id LIMIT \(page)
                """, [.text(app), .text(day), .text(environment), .text(transaction)])
            for row in rows {
                let cells = try row.textArray("cells").map { ReportCommand.cell($0 ?? "") }
                output("| " + cells.joined(separator: " | ") + " |")
                (environment, transaction) = (try row.text("environment"), try row.text("transaction_id"))
            }
            if rows.count < Int(page) { break }
        }
        output("")
    }
}
