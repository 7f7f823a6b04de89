import JSON
import Messages
import Postgres

/// The numbers of a day, out of its lines: every one by SQL, so that no purchase is kept in memory.
enum DayTotals {
    /// Reads them all.
    static func read(
        _ plan: DayPlan, books: DayBooks, now: Int64, in transaction: inout Transaction
    ) throws -> DayReport {
        let counts = try counts(plan, &transaction)
        let waiting = try rows(DaySections.waiting, [.text(plan.app)], &transaction)
        let findings = try transaction.query(
            """
            SELECT count(*) AS n, count(*) FILTER (WHERE severity = 'critical') AS critical FROM reconciliation.findings
            WHERE state IN ('open', 'redriven') AND (app = $1 OR app IS NULL)
            """, [.text(plan.app)]
        ).single()
        let critical = try findings.int8("critical")
        let summary: JSONObject = [
            "purchases": .integer(counts.purchases), "granted": .integer(counts.granted),
            "refunds": .integer(counts.refunds), "differences": .integer(counts.differences),
            "critical": .integer(critical), "booksDiffer": .integer(Int64(books.differences)),
        ]
        let lines: [SQLValue] = [.text(plan.app), .text(plan.day)]
        let day: [SQLValue] = lines + [.int8(plan.from), .int8(plan.to)]
        func table(_ section: DaySections.Section, _ values: [SQLValue]) throws -> DayReport.Table {
            DayReport.Table(
                title: section.title, columns: section.columns, rows: try rows(section, values, &transaction),
                empty: section.empty)
        }
        return DayReport(
            plan: plan, figures: figures(counts, books, waiting: try findings.int8("n"), critical: critical),
            charts: try DayCharts.read(plan, in: &transaction),
            tables: [
                DayReport.Table(
                    title: DaySections.waiting.title, columns: DaySections.waiting.columns, rows: waiting,
                    empty: DaySections.waiting.empty),
                try table(DaySections.kinds, [.text(plan.app), .int8(plan.from), .int8(plan.to)]),
                try table(DaySections.products, day), try table(DaySections.storefronts, day),
                try table(DaySections.statuses, day), try table(DaySections.lateRefunds, day),
                try table(DaySections.salesDiffer, [.text(plan.app)]),
                try table(DaySections.salesReports, [.text(plan.app), .int8(plan.from), .int8(plan.to)]),
                assets(books), risks(books),
            ], summary: summary,
            madeAt: try transaction.query(
                "SELECT to_char(to_timestamp($1 / 1000.0) AT TIME ZONE $2, 'YYYY-MM-DD HH24:MI') AS t",
                [.int8(now), .text(plan.timeZone)]
            ).single().text("t"))
    }

    /// The figures that stand on top, of Production: testers buy and refund at will.
    private struct Counts {
        let purchases, decided, granted, refunds, differences, delivered30, refunded30: Int64
        let mean, p95, meanSincePurchase, p95SincePurchase: Int64?
    }

    private static func counts(_ plan: DayPlan, _ transaction: inout Transaction) throws -> Counts {
        let row = try transaction.query(
            """
            SELECT count(*) FILTER (WHERE is_sold) AS purchases,
                count(*) FILTER (WHERE is_sold AND grant_status IN ('GRANTED', 'BESIDE', 'REFUNDED')) AS decided,
                count(*) FILTER (WHERE is_sold AND granted_at IS NOT NULL) AS granted,
                count(*) FILTER (WHERE refund_told_at >= $3 AND refund_told_at < $4) AS refunds,
                (avg(granted_at - verified_at) FILTER (WHERE is_timed))::bigint AS mean,
                (percentile_cont(0.95) WITHIN GROUP (ORDER BY granted_at - verified_at) FILTER (WHERE is_timed))::bigint AS p95,
                (avg(granted_at - purchase_date) FILTER (WHERE is_timed))::bigint AS mean_all,
                (percentile_cont(0.95) WITHIN GROUP (ORDER BY granted_at - purchase_date) FILTER (WHERE is_timed))::bigint
                    AS p95_all
            FROM (SELECT *, purchase_date >= $3 AND purchase_date < $4 AS is_sold,
                    purchase_date >= $3 AND purchase_date < $4 AND granted_at IS NOT NULL AND verified_at IS NOT NULL
                        AND granted_at >= verified_at AS is_timed
                FROM reconciliation.run_lines
                WHERE app = $1 AND day = $2::text::date AND environment = 'Production') AS l
            """, [.text(plan.app), .text(plan.day), .int8(plan.from), .int8(plan.to)]
        ).single()
        let differences = try transaction.query(
            """
            SELECT count(*) AS n FROM reconciliation.run_lines
            WHERE app = $1 AND day = $2::text::date AND differences <> ''
            """, [.text(plan.app), .text(plan.day)]
        ).single().int8("n")
        let month = try transaction.query(
            """
            SELECT count(DISTINCT transaction_id) FILTER (WHERE type = 'purchase.granted') AS delivered,
                count(DISTINCT transaction_id) FILTER (WHERE type = 'purchase.clawedback') AS refunded
            FROM reconciliation.journal
            WHERE occurred_at >= $2 - 29 * 86400000::bigint AND occurred_at < $3 AND app = $1
                AND environment = 'Production' AND type IN ('purchase.granted', 'purchase.clawedback')
            """, [.text(plan.app), .int8(plan.from), .int8(plan.to)]
        ).single()
        return Counts(
            purchases: try row.int8("purchases"), decided: try row.int8("decided"), granted: try row.int8("granted"),
            refunds: try row.int8("refunds"), differences: differences, delivered30: try month.int8("delivered"),
            refunded30: try month.int8("refunded"), mean: try row.optionalInt8("mean"),
            p95: try row.optionalInt8("p95"), meanSincePurchase: try row.optionalInt8("mean_all"),
            p95SincePurchase: try row.optionalInt8("p95_all"))
    }

    private static func figures(
        _ counts: Counts, _ books: DayBooks, waiting: Int64, critical: Int64
    ) -> [DayReport.Figure] {
        [
            .init(name: "Purchases", value: String(counts.purchases)),
            .init(
                name: "Delivered", value: Permille.text(counts.decided, of: counts.purchases),
                isAlarming: counts.decided < counts.purchases),
            .init(name: "Refunds told", value: String(counts.refunds)),
            // 5 % is C-107's.
            .init(
                name: "Refunded in 30 days", value: Permille.text(counts.refunded30, of: counts.delivered30),
                isAlarming: counts.refunded30 > counts.delivered30 / 20 && counts.refunded30 > 0),
            .init(name: "Verified to granted", value: Self.duration(counts.mean, counts.p95)),
            .init(name: "Bought to granted", value: Self.duration(counts.meanSincePurchase, counts.p95SincePurchase)),
            .init(name: "Purchases that differ", value: String(counts.differences), isAlarming: counts.differences > 0),
            .init(name: "Wallets that differ", value: String(books.differences), isAlarming: books.differences > 0),
            .init(
                name: "Findings waiting",
                value: critical > 0 ? "\(waiting), \(critical) of them critical" : String(waiting),
                isAlarming: critical > 0),
        ]
    }

    /// `mean 0.2 s, 95 % within 0.4 s`.
    private static func duration(_ mean: Int64?, _ p95: Int64?) -> String {
        guard let mean, let p95 else { return "–" }
        return "\(seconds(mean)) s, 95 % in \(seconds(p95)) s"
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let tenths = (milliseconds + 50) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func assets(_ books: DayBooks) -> DayReport.Table {
        DayReport.Table(
            title: "Wallets now", columns: ["asset", "accounts", "balance", "owed after refunds"],
            rows: books.totals.values.sorted { $0.asset.rawValue < $1.asset.rawValue }.map {
                [$0.asset.rawValue, String($0.accounts), String($0.balance), String($0.owed)]
            }, empty: "There are none.")
    }

    private static func risks(_ books: DayBooks) -> DayReport.Table {
        DayReport.Table(
            title: "Customers with flags, most first", columns: ["customer", "flags"],
            rows: books.risks.map { [$0.customer.rawValue, String($0.flags)] }, empty: "None.")
    }

    private static func rows(
        _ section: DaySections.Section, _ values: [SQLValue], _ transaction: inout Transaction
    ) throws -> [[String]] {
        try transaction.query(section.sql, values).map { try $0.textArray("cells").map { $0 ?? "" } }
    }
}
