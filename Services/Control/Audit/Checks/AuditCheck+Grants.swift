/// What was delivered: once, to its owner, with exactly its rows.
extension AuditCheck {
    static let grants = [grantOnce, grantLine, grantTransaction, grantOrder, grantCard]

    static let deliveries = Subject("grants") { scope in
        "SELECT count(*) AS count FROM granting.grants WHERE \(scope.wallets("customer"))"
    }

    private static let grantOnce = AuditCheck(
        "grants.once",
        "a transaction is granted once; a non-consumable once for each customer, a period once for each subscription",
        of: deliveries, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT environment, transaction_id, format('granted %s times', count(*)) AS problem
        FROM granting.grants WHERE \(scope.wallets("customer")) GROUP BY 1, 2 HAVING count(*) > 1
        UNION ALL
        SELECT environment, original_transaction_id, format('non-consumable granted %s times to %s', count(*), customer)
        FROM granting.grants WHERE kind = 'non_consumable' AND \(scope.wallets("customer"))
        GROUP BY environment, original_transaction_id, customer HAVING count(*) > 1
        UNION ALL
        SELECT environment, original_transaction_id, format('period %s granted %s times', web_order_line_item_id, count(*))
        FROM granting.grants WHERE kind = 'period' AND \(scope.wallets("customer"))
        GROUP BY environment, original_transaction_id, web_order_line_item_id HAVING count(*) > 1
        """
    }

    private static let grantLine = AuditCheck(
        "grants.lines", "every lot of a grant has exactly one line in the ledger, of the same amount, wallet and cause",
        of: deliveries, keys: ["environment", "transaction_id", "asset"]
    ) { scope in
        """
        SELECT environment, transaction_id, asset, format('lot %s, line %s', coalesce(g.amount::text, 'missing'),
            coalesce(l.amount::text, 'missing')) AS problem
        FROM (SELECT l.environment, l.transaction_id, l.asset, l.amount, g.customer, g.cause
            FROM granting.grants g JOIN granting.lots l USING (environment, transaction_id)
            WHERE \(scope.wallets("g.customer"))) g
        FULL JOIN (SELECT l.environment, \(namedTransaction) AS transaction_id, l.asset, l.amount, l.customer, l.cause
            FROM granting.ledger l WHERE l.source_type = 'APPLE_IAP' AND \(scope.wallets("l.customer"))) l
            USING (environment, transaction_id, asset)
        WHERE l.amount IS DISTINCT FROM g.amount OR l.customer IS DISTINCT FROM g.customer
            OR l.cause IS DISTINCT FROM g.cause
        """
    }

    private static let grantTransaction = AuditCheck(
        "grants.transactions", "every grant is what its transaction was delivered by, to the transaction's owner",
        of: deliveries, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT g.environment, g.transaction_id, format('granted to %s; transaction: owner %s, delivered by %s, held %s',
            g.customer, coalesce(t.owner::text, 'none'), coalesce(t.delivered_by, 'none'), coalesce(t.held_reason, 'no'))
                AS problem
        FROM granting.grants g
        LEFT JOIN granting.transactions t ON t.environment = g.environment AND t.transaction_id = g.transaction_id
        WHERE \(scope.wallets("g.customer")) AND (t.owner IS DISTINCT FROM g.customer OR t.app IS DISTINCT FROM g.app
            OR t.delivered_by IS DISTINCT FROM g.transaction_id OR t.held_reason IS NOT NULL)
        UNION ALL
        SELECT t.environment, t.transaction_id, format('said to be delivered by %s to %s: %s', t.delivered_by, t.owner,
            CASE WHEN g.customer IS NULL THEN 'there is no such grant' ELSE 'that grant is of another' END)
        FROM granting.transactions t
        LEFT JOIN granting.grants g ON g.environment = t.environment AND g.transaction_id = t.delivered_by
        WHERE t.delivered_by IS NOT NULL AND \(scope.purchases("t.environment", "t.transaction_id"))
            AND (g.customer IS DISTINCT FROM t.owner OR t.delivered_by <> t.transaction_id
                AND (g.kind NOT IN ('non_consumable', 'period')
                    OR g.original_transaction_id <> t.original_transaction_id))
        """
    }

    private static let grantOrder = AuditCheck(
        "grants.orders",
        "an order is settled by the purchase that names it, delivered or refunded before, and by no other",
        of: Subject("delivered orders") { scope in
            """
            SELECT count(*) AS count FROM granting.orders
            WHERE delivered_transaction IS NOT NULL AND \(scope.wallets("customer"))
            """
        }, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT environment, transaction_id, format('order %s, grant names %s, transaction names %s',
            coalesce(o.order_number, 'none'), coalesce(g.order_number, 'none'), coalesce(g.named, 'none')) AS problem
        FROM (SELECT environment, transaction_id, t.order_number AS named,
                CASE WHEN g.customer IS NULL THEN t.order_number ELSE g.order_number END AS order_number,
                coalesce(g.customer, t.owner) AS customer, coalesce(g.product_id, t.product_id) AS product_id
            FROM granting.grants g FULL JOIN granting.transactions t USING (environment, transaction_id)
            WHERE \(scope.wallets("coalesce(g.customer, t.owner)"))
                AND (g.order_number IS NOT NULL OR t.order_number IS NOT NULL)) g
        FULL JOIN (SELECT delivered_environment AS environment, delivered_transaction AS transaction_id, order_number,
                customer, product_id
            FROM granting.orders WHERE delivered_transaction IS NOT NULL AND \(scope.wallets("customer"))) o
            USING (environment, transaction_id)
        WHERE o.order_number IS DISTINCT FROM g.order_number OR o.order_number IS DISTINCT FROM g.named
            OR o.customer IS DISTINCT FROM g.customer OR o.product_id IS DISTINCT FROM g.product_id
        """
    }

    /// A refund that was reversed after the next card was delivered leaves both: that is no finding.
    private static let grantCard = AuditCheck(
        "grants.cards", "what is owned for ever was not sold again, and what waits for that has something to wait for",
        of: deliveries, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        WITH cards AS (SELECT g.environment, g.transaction_id, g.customer, g.revision, v.entitlement, g.swept_at
            FROM granting.grants g
            JOIN granting.product_versions v ON v.app = g.app AND v.product_id = g.product_id
                AND v.version = g.product_version AND v.entitlement IS NOT NULL AND v.entitlement_days IS NULL
                AND v.product_type <> 'Auto-Renewable Subscription'
            JOIN granting.transactions t ON t.environment = g.environment AND t.transaction_id = g.transaction_id
            WHERE g.applied_share < 100000 AND t.ownership <> 'FAMILY_SHARED' AND \(scope.wallets("g.customer")))
        SELECT b.environment, b.transaction_id, format('%s has %s for ever by %s too', b.customer, b.entitlement,
            a.transaction_id) AS problem
        FROM cards a JOIN cards b ON b.environment = a.environment AND b.customer = a.customer
            AND b.entitlement = a.entitlement AND b.transaction_id > a.transaction_id
        WHERE a.revision < 2 AND b.revision < 2 AND a.swept_at IS NULL AND b.swept_at IS NULL
        UNION ALL
        SELECT t.environment, t.transaction_id, 'waits because it is owned, and is not'
        FROM granting.transactions t
        WHERE t.held_reason = 'owned_permanently' AND \(scope.wallets("t.owner"))
            AND NOT EXISTS (SELECT FROM cards c
                JOIN granting.product_versions v ON v.app = t.app AND v.product_id = t.product_id
                    AND v.entitlement = c.entitlement
                WHERE c.environment = t.environment AND c.customer = t.owner)
        """
    }
}
