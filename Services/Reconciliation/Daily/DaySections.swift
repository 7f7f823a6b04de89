/// The questions behind a report's tables; each gives the cells of its rows.
enum DaySections {
    /// A question and how its rows are shown.
    struct Section {
        let title: String
        let columns: [String]
        /// What stands there if there are none.
        let empty: String
        let sql: String
    }

    /// More rows nobody reads; `purser findings` and `purser report --purchases` show all.
    private static let mostRows = 50

    /// $1: app. What waits for somebody, worst first.
    static let waiting = Section(
        title: "Findings that wait", columns: ["id", "severity", "kind", "about", "opened (UTC)", "attempts"],
        empty: "None.",
        sql: """
            SELECT ARRAY[id::text, severity, kind, subject,
                to_char(to_timestamp(opened_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), attempts::text] AS cells
            FROM reconciliation.findings WHERE state IN ('open', 'redriven') AND (app = $1 OR app IS NULL)
            ORDER BY array_position(ARRAY['critical', 'warning', 'notice'], severity::text), id DESC LIMIT \(mostRows)
            """)

    /// $1: app, $2 and $3: the day. What was found and what ended.
    static let kinds = Section(
        title: "Findings of the day", columns: ["kind", "opened", "resolved by itself", "accepted", "waiting now"],
        empty: "None.",
        sql: """
            SELECT ARRAY[kind, (count(*) FILTER (WHERE opened_at >= $2 AND opened_at < $3))::text,
                (count(*) FILTER (WHERE state = 'resolved' AND ended_at >= $2 AND ended_at < $3))::text,
                (count(*) FILTER (WHERE state = 'accepted' AND ended_at >= $2 AND ended_at < $3))::text,
                (count(*) FILTER (WHERE state IN ('open', 'redriven')))::text] AS cells
            FROM reconciliation.findings
            WHERE (ended_at IS NULL OR ended_at >= $2) AND opened_at < $3 AND (app = $1 OR app IS NULL)
            GROUP BY kind ORDER BY kind
            """)

    /// The lines of a day: $1 app, $2 day, $3 and $4 its bounds.
    private static let lines = "FROM reconciliation.run_lines WHERE app = $1 AND day = $2::text::date"
    private static let sold = "purchase_date >= $3 AND purchase_date < $4"
    private static let told = "refund_told_at >= $3 AND refund_told_at < $4"

    static let products = Section(
        title: "Products",
        columns: ["environment", "product", "sold", "units", "delivered", "waiting", "refunds told"],
        empty: "Nothing was sold.",
        sql: """
            SELECT ARRAY[environment, coalesce(product_id, '?'), (count(*) FILTER (WHERE \(sold)))::text,
                coalesce(sum(quantity) FILTER (WHERE \(sold)), 0)::text,
                (count(*) FILTER (WHERE \(sold) AND granted_at IS NOT NULL))::text,
                (count(*) FILTER (WHERE \(sold) AND grant_status IN ('HELD', 'UNCLAIMED', 'UNKNOWN')))::text,
                (count(*) FILTER (WHERE \(told)))::text] AS cells
            \(lines) GROUP BY environment, product_id ORDER BY environment, product_id
            """)

    /// Prices in whole units of their currency, two digits, as Apple tells them before its commission.
    static let storefronts = Section(
        title: "Storefronts", columns: ["environment", "storefront", "sold", "price", "currency", "refunds told"],
        empty: "Nothing was sold.",
        sql: """
            SELECT ARRAY[environment, coalesce(storefront, '?'), (count(*) FILTER (WHERE \(sold)))::text,
                coalesce(to_char(sum(price::numeric / 1000) FILTER (WHERE \(sold)), 'FM999999999999990.00'), '–'),
                coalesce(currency, '?'), (count(*) FILTER (WHERE \(told)))::text] AS cells
            \(lines) GROUP BY environment, storefront, currency ORDER BY environment, storefront, currency
            """)

    static let statuses = Section(
        title: "What became of them", columns: ["environment", "order", "grant", "refund", "purchases", "that differ"],
        empty: "Nothing was sold.",
        sql: """
            SELECT ARRAY[environment, coalesce(order_status, 'no order'), coalesce(grant_status, '?'),
                coalesce(refund_status, '?'), count(*)::text, (count(*) FILTER (WHERE differences <> ''))::text] AS cells
            \(lines) AND ($3::bigint IS NOT NULL AND $4::bigint IS NOT NULL)
            GROUP BY environment, order_status, grant_status, refund_status
            ORDER BY environment, count(*) DESC, order_status, grant_status, refund_status
            """)

    /// C-093.
    static let lateRefunds = Section(
        title: "Refunds told more than 24 hours late",
        columns: ["transaction", "refunded (UTC)", "told (UTC)", "hours"],
        empty: "None.",
        sql: """
            SELECT ARRAY[environment || '/' || transaction_id,
                to_char(to_timestamp(refunded_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
                to_char(to_timestamp(refund_told_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
                ((refund_told_at - refunded_at) / 3600000)::text] AS cells
            \(lines) AND \(told) AND refund_told_at - refunded_at > 86400000
            ORDER BY refund_told_at, transaction_id LIMIT \(mostRows)
            """)

    /// $1: app, $2 and $3: the day. The newest whole report about each of the days before, and how it compares.
    static let salesReports = Section(
        title: "Apple's sales reports of 35 days",
        columns: ["from", "to", "units sold", "refunded", "places", "that differ", "compared (UTC)"],
        empty: "None was imported: `purser sales import`.",
        sql: """
            SELECT ARRAY[r.begin_day::text, r.end_day::text, l.sold::text, l.refunded::text, l.places::text, f.waiting::text,
                coalesce(to_char(to_timestamp(r.compared_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), 'not yet')]
                AS cells
            FROM (SELECT DISTINCT ON (begin_day, end_day) * FROM reconciliation.sales_reports s
                WHERE app = $1 AND parts = (SELECT count(*) FROM reconciliation.sales_parts p WHERE p.report = s.report)
                    AND end_day > (to_timestamp($2 / 1000.0) AT TIME ZONE 'UTC')::date - 35
                    AND begin_day <= (to_timestamp($3 / 1000.0) AT TIME ZONE 'UTC')::date
                ORDER BY begin_day, end_day, imported_at DESC) AS r,
            LATERAL (SELECT coalesce(sum(sold), 0) AS sold, coalesce(sum(refunded), 0) AS refunded, count(*) AS places
                FROM reconciliation.sales_lines WHERE report = r.report) AS l,
            LATERAL (SELECT count(*) AS waiting FROM reconciliation.findings
                WHERE kind = 'sales_differ' AND state IN ('open', 'redriven')
                    AND starts_with(subject, $1 || '/' || r.begin_day || '/' || r.end_day || '/')) AS f
            ORDER BY r.end_day DESC, r.begin_day LIMIT \(mostRows)
            """)

    /// $1: app. Where Apple counted otherwise, and nobody has accepted it.
    static let salesDiffer = Section(
        title: "Sales that Apple counts otherwise",
        columns: ["from", "to", "product", "storefront", "sold: Apple", "here", "refunded: Apple", "here"],
        empty: "None.",
        sql: """
            SELECT ARRAY[split_part(subject, '/', 2), split_part(subject, '/', 3), split_part(subject, '/', 4),
                split_part(subject, '/', 5), evidence ->> 'soldByApple', evidence ->> 'sold',
                evidence ->> 'refundedByApple', evidence ->> 'refunded'] AS cells
            FROM reconciliation.findings
            WHERE kind = 'sales_differ' AND state IN ('open', 'redriven') AND app = $1
            ORDER BY subject DESC LIMIT \(mostRows)
            """)
}
