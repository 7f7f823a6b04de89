import Postgres

/// The numbers of a report's charts.
enum DayCharts {
    /// Purchases, refunds and delay by hour; findings by day and kind.
    static func read(_ plan: DayPlan, in transaction: inout Transaction) throws -> [DayReport.Chart] {
        let hours = try transaction.query(
            """
            SELECT to_char(to_timestamp(h.at / 1000.0) AT TIME ZONE $5, 'HH24') AS label,
                coalesce(s.sold, 0) AS sold, coalesce(r.refunds, 0) AS refunds, coalesce(s.p95, 0) AS p95
            FROM generate_series($3::bigint, $4::bigint - 1, 3600000) AS h(at)
            LEFT JOIN (SELECT (purchase_date - $3) / 3600000 AS hour, count(*) AS sold,
                    (percentile_cont(0.95) WITHIN GROUP (ORDER BY granted_at - verified_at)
                        FILTER (WHERE granted_at >= verified_at))::bigint AS p95
                FROM reconciliation.run_lines WHERE app = $1 AND day = $2::text::date AND environment = 'Production'
                    AND purchase_date >= $3 AND purchase_date < $4 GROUP BY 1) AS s ON s.hour = (h.at - $3) / 3600000
            LEFT JOIN (SELECT (refund_told_at - $3) / 3600000 AS hour, count(*) AS refunds
                FROM reconciliation.run_lines WHERE app = $1 AND day = $2::text::date AND environment = 'Production'
                    AND refund_told_at >= $3 AND refund_told_at < $4 GROUP BY 1) AS r ON r.hour = (h.at - $3) / 3600000
            ORDER BY h.at
            """, [.text(plan.app), .text(plan.day), .int8(plan.from), .int8(plan.to), .text(plan.timeZone)])
        let labels = try hours.map { try $0.text("label") }
        func chart(_ title: String, _ column: String, _ unit: String) throws -> DayReport.Chart {
            DayReport.Chart(
                title: title, labels: labels, series: [(title, try hours.map { try $0.int8(column) })], unit: unit)
        }
        return [
            try chart("Purchases by hour", "sold", "purchases"),
            try chart("Refunds told by hour", "refunds", "refunds"),
            try chart("Verified to granted by hour, 95 % (ms)", "p95", "ms"),
            try findings(plan, in: &transaction),
        ]
    }

    /// Days before the one of the report.
    private static let days: Int64 = 30

    private static func findings(_ plan: DayPlan, in transaction: inout Transaction) throws -> DayReport.Chart {
        let rows = try transaction.query(
            """
            SELECT d.day::date::text AS day, f.kind, count(f.kind) AS count
            FROM generate_series($2::text::date - $5::bigint::integer + 1, $2::text::date, interval '1 day') AS d(day)
            LEFT JOIN reconciliation.findings f ON (f.app = $1 OR f.app IS NULL) AND f.opened_at >= $6 AND f.opened_at < $4
                AND (to_timestamp(f.opened_at / 1000.0) AT TIME ZONE $3)::date = d.day::date
            GROUP BY d.day, f.kind ORDER BY d.day, f.kind
            """,
            [
                .text(plan.app), .text(plan.day), .text(plan.timeZone), .int8(plan.to), .int8(days),
                .int8(plan.from - (days + 1) * 86_400_000),
            ])
        var labels: [String] = []
        var values: [String: [String: Int64]] = [:]
        for row in rows {
            let day = try row.text("day")
            if labels.last != day { labels.append(day) }
            if let kind = try row.optionalText("kind") { values[kind, default: [:]][day] = try row.int8("count") }
        }
        return DayReport.Chart(
            title: "Findings opened in \(days) days", labels: labels.map { String($0.suffix(5)) },
            series: values.keys.sorted().map { kind in (kind, labels.map { values[kind]?[$0] ?? 0 }) }, unit: "findings"
        )
    }
}
