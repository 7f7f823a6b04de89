import Postgres

/// The questions behind `purser report`: each gives the cells of a table. $1 and $2 are the day (ms since 1970), $3 the app
/// or NULL.
enum ReportSections {
    /// A question and how its rows are shown.
    struct Section {
        let title: String
        let columns: [String]
        /// What stands there if there are none.
        let empty: String
        let sql: String
        let values: [SQLValue]
    }

    /// All of them, in the order of the page.
    static func sections(of options: ReportOptions) -> [Section] {
        let values: [SQLValue] = [.int8(options.from), .int8(options.to), .text(options.app)]
        func section(_ title: String, _ columns: [String], _ empty: String, _ sql: String) -> Section {
            Section(title: title, columns: columns, empty: empty, sql: sql, values: values)
        }
        var sections = [
            section(
                "Purchases",
                ["app", "environment", "product", "granted", "units", "held", "taken back", "storefronts"],
                "None.", purchases),
            section("Rates", ["", "app", "rate", "of"], "Nothing was sold in 30 days.", rates),
            section(
                "Assets", ["app", "asset", "granted", "taken back", "became debts", "spent", "repaid", "swept"],
                "None moved.",
                assets),
            section(
                "Refunds told more than 24 hours late (C-093)",
                ["transaction", "refunded (UTC)", "processed (UTC)", "hours", "share"], "None.", lateRefunds),
            section(
                "Findings", ["kind", "severity", "opened", "resolved", "accepted", "waiting now"], "None.", findings),
        ]
        if options.listsPurchases {
            let columns = ["transaction", "customer", "product", "order", "grant", "refund"]
            sections.append(section("Every purchase (A-123)", columns, "None.", everyPurchase))
        }
        return sections
    }

    /// Facts of the day. The bounds stand in the query, so that only their month is read.
    private static let facts = """
        FROM reconciliation.journal j WHERE j.occurred_at >= $1 AND j.occurred_at < $2
            AND ($3::text IS NULL OR j.app = $3)
        """

    /// Which product a purchase was of, Granting knows; where it was bought, Apple signed.
    private static let purchases = """
        SELECT ARRAY[told.app, told.environment, coalesce(told.product, t.product_id, '?'),
            count(*) FILTER (WHERE told.type = 'purchase.granted')::text,
            coalesce(sum(told.units) FILTER (WHERE told.type = 'purchase.granted'), 0)::text,
            count(DISTINCT told.transaction_id) FILTER (WHERE told.type = 'purchase.held')::text,
            count(DISTINCT told.transaction_id) FILTER (WHERE told.type = 'purchase.clawedback')::text,
            coalesce(string_agg(DISTINCT t.storefront, ' ' ORDER BY t.storefront), '')] AS cells
        FROM (SELECT j.app, j.environment, j.type, j.transaction_id, j.body::jsonb ->> 'productID' AS product,
                (j.body::jsonb ->> 'quantity')::bigint AS units \(facts)
                AND j.type IN ('purchase.granted', 'purchase.held', 'purchase.clawedback')) AS told
        LEFT JOIN granting.transactions t ON t.environment = told.environment
            AND t.transaction_id = told.transaction_id
        GROUP BY told.app, told.environment, coalesce(told.product, t.product_id, '?')
        ORDER BY told.app, told.environment, coalesce(told.product, t.product_id, '?')
        """

    /// The denominator is what was delivered, the window ends with the day. Production only: testers refund at will.
    private static let rates = """
        SELECT ARRAY[what, app, coalesce(round(100.0 * part / nullif(whole, 0), 2) || ' %', '-'), part || ' / ' || whole]
            AS cells
        FROM (SELECT j.app, count(DISTINCT j.transaction_id) FILTER (WHERE j.type = 'purchase.granted') AS granted,
                count(DISTINCT j.transaction_id) FILTER (WHERE j.type = 'purchase.clawedback') AS refunded,
                count(DISTINCT j.transaction_id) FILTER (WHERE j.type = 'purchase.granted' AND j.occurred_at >= $1)
                    AS today,
                count(DISTINCT j.transaction_id) FILTER (WHERE j.type IN ('purchase.granted', 'purchase.held')
                    AND j.occurred_at >= $1) AS decided
            FROM reconciliation.journal j
            WHERE j.occurred_at >= $1 - 29 * 86400000::bigint AND j.occurred_at < $2 AND j.environment = 'Production'
                AND ($3::text IS NULL OR j.app = $3)
                AND j.type IN ('purchase.granted', 'purchase.held', 'purchase.clawedback')
            GROUP BY j.app) AS told
        CROSS JOIN LATERAL (VALUES (1, 'delivered, of what was decided this day', today, decided),
            (2, 'refunded, of what was delivered in 30 days', refunded, granted)) AS line(place, what, part, whole)
        ORDER BY app, place
        """

    /// Of what was refunded before it was delivered only the rest reached the wallet.
    private static let assets = """
        SELECT ARRAY[app, asset, sum(granted)::text, sum(taken)::text, sum(owed)::text, sum(spent)::text, sum(repaid)::text,
            sum(swept)::text] AS cells
        FROM (
            SELECT j.app, a ->> 'asset' AS asset, (a ->> 'amount')::numeric - div((a ->> 'amount')::numeric
                * coalesce((j.body ->> 'revokedShare')::numeric, 0), 100000) AS granted, 0 AS taken, 0 AS owed, 0 AS spent,
                0 AS repaid, 0 AS swept
            FROM (SELECT j.app, j.body::jsonb AS body \(facts) AND j.type = 'purchase.granted') AS j,
                jsonb_array_elements(j.body -> 'amounts') AS a
            UNION ALL SELECT j.app, a ->> 'asset', 0, (a ->> 'amount')::numeric, 0, 0, 0, 0
            FROM (SELECT j.app, j.body::jsonb AS body \(facts) AND j.type = 'purchase.clawedback') AS j,
                jsonb_array_elements(j.body -> 'taken') AS a
            UNION ALL SELECT j.app, a ->> 'asset', 0, 0, (a ->> 'amount')::numeric, 0, 0, 0
            FROM (SELECT j.app, j.body::jsonb AS body \(facts) AND j.type = 'purchase.clawedback') AS j,
                jsonb_array_elements(j.body -> 'owed') AS a
            UNION ALL SELECT j.app, j.body ->> 'asset', 0, 0, 0, (j.body ->> 'amount')::numeric, 0, 0
            FROM (SELECT j.app, j.body::jsonb AS body \(facts) AND j.type = 'spend.decided') AS j
            WHERE j.body ->> 'outcome' = 'spent'
            UNION ALL SELECT j.app, j.body ->> 'asset', 0, 0, 0, 0, (j.body ->> 'amount')::numeric, 0
            FROM (SELECT j.app, j.body::jsonb AS body \(facts) AND j.type = 'debt.repaid') AS j
            UNION ALL SELECT j.app, a ->> 'asset', 0, 0, 0, 0, 0, (a ->> 'amount')::numeric
            FROM (SELECT j.app, j.body::jsonb AS body \(facts) AND j.type = 'sandbox.swept') AS j,
                jsonb_array_elements(j.body -> 'taken') AS a
        ) AS moved GROUP BY app, asset ORDER BY app, asset
        """

    private static let lateRefunds = """
        SELECT ARRAY[r.environment || '/' || r.transaction_id,
            to_char(to_timestamp(r.revocation_date / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
            to_char(r.processed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
            round(extract(epoch FROM r.processed_at - to_timestamp(r.revocation_date / 1000.0)) / 3600)::text,
            trim_scale(r.revoked_share / 1000.0) || ' %'] AS cells
        FROM granting.refund_statements r
        JOIN granting.transactions t ON t.environment = r.environment AND t.transaction_id = r.transaction_id
        WHERE r.processed_at >= to_timestamp($1 / 1000.0) AND r.processed_at < to_timestamp($2 / 1000.0)
            AND r.processed_at > to_timestamp(r.revocation_date / 1000.0) + interval '24 hours'
            AND ($3::text IS NULL OR t.app = $3)
        ORDER BY r.processed_at, r.transaction_id
        """

    /// A finding about no purchase is about all apps.
    private static let findings = """
        SELECT ARRAY[f.kind, f.severity, count(*) FILTER (WHERE f.opened_at >= $1 AND f.opened_at < $2)::text,
            count(*) FILTER (WHERE f.state = 'resolved' AND f.ended_at >= $1 AND f.ended_at < $2)::text,
            count(*) FILTER (WHERE f.state = 'accepted' AND f.ended_at >= $1 AND f.ended_at < $2)::text,
            count(*) FILTER (WHERE f.state IN ('open', 'redriven'))::text] AS cells
        FROM reconciliation.findings f
        WHERE (f.ended_at IS NULL OR f.ended_at >= $1) AND f.opened_at < $2
            AND ($3::text IS NULL OR f.app IS NULL OR f.app = $3)
        GROUP BY f.kind, f.severity ORDER BY f.kind, f.severity
        """

    private static let everyPurchase = """
        SELECT ARRAY[told.environment || '/' || told.transaction_id, coalesce(t.owner::text, '-'),
            coalesce(t.product_id, told.product, '?'), coalesce(t.order_number, t.submitted_order, '-'),
            CASE WHEN t.delivered_by IS NOT NULL THEN 'granted' WHEN t.held_reason IS NOT NULL
                THEN 'held: ' || t.held_reason WHEN t.transaction_id IS NULL THEN 'unknown'
                WHEN t.owner IS NULL THEN 'unclaimed' ELSE 'not delivered' END,
            CASE WHEN coalesce(t.revoked_share, 0) = 0 THEN '-' ELSE trim_scale(t.revoked_share / 1000.0) || ' %' END] AS cells
        FROM (SELECT DISTINCT ON (j.environment, j.transaction_id) j.environment, j.transaction_id,
                j.body::jsonb ->> 'productID' AS product \(facts)
                AND j.type IN ('purchase.granted', 'purchase.held', 'purchase.clawedback')
                ORDER BY j.environment, j.transaction_id, j.body::jsonb ->> 'productID' NULLS LAST) AS told
        LEFT JOIN granting.transactions t ON t.environment = told.environment
            AND t.transaction_id = told.transaction_id
        ORDER BY told.environment, told.transaction_id
        """
}
