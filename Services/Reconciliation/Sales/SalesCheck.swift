import Messages
import Observability
import Postgres

/// Compares sales reports with the purchases that were verified: units of each product in each storefront, by Apple's
/// days. Every report is compared when it is whole, and daily afterwards, because what was missing may come in later.
struct SalesCheck {
    let tolerance: SalesTolerance

    /// Reports of one round: each takes some 100 ms for 100,000 purchases.
    private static let mostReports: Int64 = 5
    /// Between two comparisons of one report (ms).
    private static let interval: Int64 = 86_400_000
    /// A report older than this is history: its findings stay as they are (ms).
    private static let attention: Int64 = 100 * 86_400_000

    /// Compares what is due. Returns how many findings ended.
    func run(now: Int64, on connection: inout Connection) throws -> Int {
        try connection.transaction { transaction in
            let due = try transaction.query(
                """
                SELECT r.report::text, r.app, r.begin_day::text AS first, r.end_day::text AS last
                FROM reconciliation.sales_reports r
                WHERE r.parts = (SELECT count(*) FROM reconciliation.sales_parts p WHERE p.report = r.report)
                    AND (r.compared_at IS NULL OR r.compared_at <= $1 - \(Self.interval))
                    AND r.imported_at > $1 - \(Self.attention)
                    AND NOT EXISTS (SELECT FROM reconciliation.sales_reports n WHERE n.app = r.app
                        AND n.begin_day = r.begin_day AND n.end_day = r.end_day AND n.imported_at > r.imported_at
                        AND n.parts = (SELECT count(*) FROM reconciliation.sales_parts p WHERE p.report = n.report))
                ORDER BY r.compared_at NULLS FIRST, r.imported_at LIMIT \(Self.mostReports)
                """, [.int8(now)])
            guard !due.isEmpty else { return 0 }
            let zones = try transaction.query(
                "SELECT FROM pg_timezone_names WHERE name = $1", [.text(tolerance.timeZone)])
            guard !zones.isEmpty else { throw UnknownTimeZone() }
            var ended = 0
            for row in due {
                let report = Report(
                    id: try row.text("report"), app: AppID(try row.text("app")), first: try row.text("first"),
                    last: try row.text("last"))
                ended += try compare(report, now: now, in: &transaction)
                _ = try transaction.query(
                    "UPDATE reconciliation.sales_reports SET compared_at = $2 WHERE report = $1::text::uuid",
                    [.text(report.id), .int8(now)])
            }
            return ended
        }
    }

    /// The setting names a time zone that PostgreSQL does not know.
    struct UnknownTimeZone: Error {}

    /// A report that is whole.
    private struct Report {
        let id: String
        let app: AppID
        let first: String
        let last: String

        var prefix: String { "\(app)/\(first)/\(last)/" }
    }

    private func compare(_ report: Report, now: Int64, in transaction: inout Transaction) throws -> Int {
        let rows = try transaction.query(
            Self.comparison,
            [
                .text(report.id), .text(report.app.rawValue), .text(report.first), .text(report.last),
                .text(tolerance.timeZone), .int8(tolerance.border),
            ])
        var findings: [NewFinding] = []
        for row in rows {
            let line = try SalesComparison(row)
            let expected = tolerance.commissions[.init(app: report.app, storefront: line.storefront)]
            guard line.differs(by: tolerance.units) || line.keepsOther(than: expected) else { continue }
            findings.append(
                .sales(report.prefix + "\(line.product)/\(line.storefront)", app: report.app, line.evidence(expected)))
        }
        _ = try FindingStore.open(findings, now: now, in: &transaction)
        // What was found before about these days and is not found now.
        let found = Set(findings.map(\.subject))
        let before = try transaction.query(
            """
            SELECT subject FROM reconciliation.findings
            WHERE kind = 'sales_differ' AND state <> 'resolved' AND starts_with(subject, $1)
            """, [.text(report.prefix)]
        ).map { try $0.text("subject") }
        return try FindingStore.resolve(
            [.salesDiffer], subjects: before.filter { !found.contains($0) }, reason: "the books agree", now: now,
            in: &transaction)
    }

    /// What Apple counted beside the least and the most that the purchases of these days can be: those close to a border
    /// are on either side. Production only, and nothing shared within a family: neither is sold.
    private static let comparison = """
        WITH days AS (
            SELECT (extract(epoch FROM $3::text::date::timestamp AT TIME ZONE $5) * 1000)::bigint AS begins,
                (extract(epoch FROM ($4::text::date + 1)::timestamp AT TIME ZONE $5) * 1000)::bigint AS ends),
        sold AS (
            SELECT p.product_id, coalesce(p.storefront, '') AS storefront, sum(p.quantity) AS most,
                coalesce(sum(p.quantity) FILTER (WHERE p.purchase_date >= d.begins + $6
                    AND p.purchase_date < d.ends - $6), 0) AS least
            FROM reconciliation.purchases p, days d
            WHERE p.app = $2 AND p.environment = 'Production' AND p.ownership = 'PURCHASED'
                AND p.purchase_date >= d.begins - $6 AND p.purchase_date < d.ends + $6
            GROUP BY 1, 2),
        refunded AS (
            SELECT p.product_id, coalesce(p.storefront, '') AS storefront, sum(p.quantity) AS most,
                coalesce(sum(p.quantity) FILTER (WHERE p.revoked_share = 100000 AND p.revocation_date >= d.begins + $6
                    AND p.revocation_date < d.ends - $6), 0) AS least
            FROM reconciliation.purchases p, days d
            WHERE p.app = $2 AND p.environment = 'Production' AND p.ownership = 'PURCHASED' AND p.revoked_share > 0
                AND p.revocation_date >= d.begins - $6 AND p.revocation_date < d.ends + $6
            GROUP BY 1, 2),
        told AS (SELECT * FROM reconciliation.sales_lines WHERE report = $1::text::uuid),
        places AS (SELECT product_id, storefront FROM told UNION SELECT product_id, storefront FROM sold
            UNION SELECT product_id, storefront FROM refunded)
        SELECT places.product_id, places.storefront, coalesce(told.sold, 0) AS sold,
            coalesce(told.refunded, 0) AS refunded, told.commission,
            coalesce(sold.least, 0)::bigint AS sold_least, coalesce(sold.most, 0)::bigint AS sold_most,
            coalesce(refunded.least, 0)::bigint AS refunded_least, coalesce(refunded.most, 0)::bigint AS refunded_most
        FROM places LEFT JOIN told USING (product_id, storefront) LEFT JOIN sold USING (product_id, storefront)
            LEFT JOIN refunded USING (product_id, storefront)
        ORDER BY places.product_id, places.storefront
        """
}
