import Messages
import Postgres

/// What an assessment for Apple is made of, read in one statement.
enum ConsumptionTables {
    /// One row, whatever is known: the app's catalogue in force, the purchase, its customer, lots and history.
    ///
    /// A customer whose user is erased is nobody: their consent went with them.
    static func read(_ question: ConsumptionAssessmentRequested) -> Statement {
        Statement(
            """
            SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, v.definition,
                t.environment IS NOT NULL AS is_known, \(TransactionTable.selected), c.customer, n.is_given,
                g.granted_at IS NOT NULL AS is_delivered, l.lot_amounts, l.lot_spent, b.bought_ids, b.bought_dates,
                b.bought_prices, b.bought_currencies, b.bought_shares, r.cleared_at
            FROM (SELECT) AS one
            LEFT JOIN LATERAL (SELECT definition FROM granting.catalog_versions WHERE app = $1
                ORDER BY version DESC LIMIT 1) AS v ON true
            LEFT JOIN granting.transactions t ON t.app = $1 AND t.environment = $2 AND t.transaction_id = $3
            LEFT JOIN granting.tokens i ON t.owner IS NULL AND i.app = t.app AND i.token = t.app_account_token
            LEFT JOIN granting.customers c ON c.customer = coalesce(t.owner, i.customer) AND c.user_id IS NOT NULL
            LEFT JOIN LATERAL (SELECT is_given FROM granting.consents w WHERE w.customer = c.customer
                ORDER BY w.revision DESC LIMIT 1) AS n ON true
            LEFT JOIN granting.grants g ON g.environment = t.environment AND g.transaction_id = t.delivered_by
            LEFT JOIN LATERAL (
                SELECT array_agg(o.amount ORDER BY o.asset) AS lot_amounts,
                    array_agg(d.spent ORDER BY o.asset) AS lot_spent
                FROM granting.lots o
                CROSS JOIN LATERAL (SELECT coalesce(sum(w.amount), 0)::bigint AS spent FROM granting.draws w
                    WHERE w.lot = o.id AND w.kind = 'spend') AS d
                WHERE o.environment = g.environment AND o.transaction_id = g.transaction_id) AS l ON true
            LEFT JOIN LATERAL (
                SELECT array_agg(p.transaction_id::text) AS bought_ids,
                    array_agg(coalesce(p.revocation_date, 0)) AS bought_dates, array_agg(p.price) AS bought_prices,
                    array_agg(p.currency) AS bought_currencies, array_agg(p.revoked_share) AS bought_shares
                FROM granting.transactions p
                WHERE p.owner = c.customer AND p.environment = t.environment AND p.delivered_by IS NOT NULL
                    AND NOT (p.is_upgraded IS TRUE AND p.product_type = 'Auto-Renewable Subscription')) AS b ON true
            LEFT JOIN LATERAL (SELECT max(cleared_at) AS cleared_at FROM granting.risk_clearances k
                WHERE k.customer = c.customer) AS r ON true
            """,
            [
                .text(question.app.rawValue), .text(question.environment.rawValue),
                .text(question.transactionID.rawValue),
            ])
    }

    /// What the row says.
    static func facts(_ rows: Rows) throws -> ConsumptionAssessment.Facts {
        let row = try rows.single()
        var facts = ConsumptionAssessment.Facts()
        facts.now = try row.int8("now")
        let policies = try row.optionalJSON("definition").map { try CatalogTables.decode($0).policies }
        facts.policy = policies?.consumption
        facts.review = policies?.risk?.review
        guard try row.bool("is_known") else { return facts }
        let purchase = try TransactionTable.purchase(row)
        facts.purchase = purchase
        facts.customer = try row.optionalID("customer")
        facts.hasConsented = try row.optionalBool("is_given") ?? false
        facts.isDelivered = try row.bool("is_delivered")
        facts.clearedUntil = try row.optionalTimestampMilliseconds("cleared_at")
        if try !row.isNull("lot_amounts") {
            facts.lots = try zip(row.int8Array("lot_amounts"), row.int8Array("lot_spent")).map { ($0 ?? 0, $1 ?? 0) }
        }
        if let customer = facts.customer, try !row.isNull("bought_ids") {
            facts.bought = try bought(row, purchase.statement.environment, customer)
        }
        return facts
    }

    private static func bought(
        _ row: Row, _ environment: StoreEnvironment, _ customer: CustomerID
    ) throws -> [CountedRefund] {
        let ids = try row.textArray("bought_ids")
        let dates = try row.int8Array("bought_dates")
        let prices = try row.int8Array("bought_prices")
        let currencies = try row.textArray("bought_currencies")
        let shares = try row.int8Array("bought_shares")
        return ids.indices.map { place in
            CountedRefund(
                key: TransactionKey(environment: environment, transactionID: TransactionID(ids[place] ?? "")),
                customer: customer, revocationDate: dates[place] ?? 0, price: prices[place],
                currency: currencies[place], share: shares[place] ?? 0)
        }
    }
}
