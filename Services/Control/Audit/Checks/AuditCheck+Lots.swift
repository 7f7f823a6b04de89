/// What is left of each purchase, and where the rest went.
extension AuditCheck {
    static let lots = [lotRemaining, lotOfGrant, spendDraws, sweepDraws]

    private static let subject = Subject("lots") { scope in
        "SELECT count(*) AS count FROM granting.lots WHERE \(scope.wallets("customer"))"
    }

    private static let lotRemaining = AuditCheck(
        "lots.remaining", "what is left of a lot is what was granted without what was drawn", of: subject,
        keys: ["environment", "transaction_id", "asset", "lot"]
    ) { scope in
        """
        SELECT l.environment, l.transaction_id, l.asset, l.id AS lot,
            format('%s granted, %s drawn, %s left', l.amount, coalesce(d.sum, 0), l.remaining) AS problem
        FROM granting.lots l
        LEFT JOIN (SELECT lot, sum(amount) AS sum FROM granting.draws WHERE \(scope.lots("lot")) GROUP BY lot) d
            ON d.lot = l.id
        WHERE \(scope.wallets("l.customer"))
            AND (l.remaining <> l.amount - coalesce(d.sum, 0) OR l.remaining NOT BETWEEN 0 AND l.amount)
        """
    }

    private static let lotOfGrant = AuditCheck(
        "lots.grants", "every lot is what its product version grants, for its customer; no lot is missing", of: subject,
        keys: ["environment", "transaction_id", "asset"]
    ) { scope in
        """
        SELECT environment, transaction_id, asset, format('%s, should be %s',
            coalesce(l.amount || ' for ' || l.customer, 'nothing'), coalesce(e.amount || ' for ' || e.customer, 'nothing'))
                AS problem
        FROM (SELECT environment, transaction_id, asset, customer, sum(amount) AS amount FROM (
            SELECT g.environment, g.transaction_id, a.asset, g.customer,
                a.amount::numeric * coalesce(g.starter_units, g.quantity) AS amount
            FROM granting.grants g JOIN granting.product_amounts a
                ON a.app = g.app AND a.product_id = g.product_id AND a.version = g.product_version
            JOIN granting.transactions t ON t.environment = g.environment AND t.transaction_id = g.transaction_id
            -- What a family member shares gives an entitlement, never assets.
            WHERE t.ownership <> 'FAMILY_SHARED' AND \(scope.wallets("g.customer"))
            UNION ALL
            -- Of a starter product the units that were not on offer.
            SELECT g.environment, g.transaction_id, s.asset COLLATE "C", g.customer,
                s.amount::numeric * (g.quantity - g.starter_units)
            FROM granting.grants g JOIN granting.product_versions v
                ON v.app = g.app AND v.product_id = g.product_id AND v.version = g.product_version
            CROSS JOIN LATERAL json_to_recordset(v.starter->'substitute') AS s (asset text, amount bigint)
            WHERE g.starter_units IS NOT NULL AND \(scope.wallets("g.customer"))
            ) parts WHERE amount > 0 GROUP BY environment, transaction_id, asset, customer) e
        FULL JOIN (SELECT environment, transaction_id, asset, customer, amount FROM granting.lots
            WHERE \(scope.wallets("customer"))) l USING (environment, transaction_id, asset)
        WHERE l.amount IS DISTINCT FROM e.amount OR l.customer IS DISTINCT FROM e.customer
        """
    }

    private static let spendDraws = AuditCheck(
        "lots.spends", "every spend drew exactly its amount from lots of its wallet, and nothing else did",
        of: Subject("spends") { scope in
            "SELECT count(*) AS count FROM granting.spends WHERE outcome = 'spent' AND \(scope.wallets("customer"))"
        }, keys: ["customer", "source_id", "asset"]
    ) { scope in
        """
        SELECT customer, source_id, asset, format('%s spent, %s drawn', coalesce(s.amount, 0), coalesce(d.drawn, 0))
            AS problem
        FROM (SELECT customer, source_id, asset, amount FROM granting.spends
            WHERE outcome = 'spent' AND \(scope.wallets("customer"))) s
        FULL JOIN (SELECT l.customer, d.source_id, l.asset, sum(d.amount) AS drawn
            FROM granting.draws d JOIN granting.lots l ON l.id = d.lot
            WHERE d.kind = 'spend' AND \(scope.wallets("l.customer"))
            GROUP BY l.customer, d.source_id, l.asset) d USING (customer, source_id, asset)
        WHERE s.amount IS DISTINCT FROM d.drawn
        """
    }

    private static let sweepDraws = AuditCheck(
        "lots.sweeps", "a sweep took from sandbox purchases only, and every line of one is what it drew",
        of: Subject("lines of sweeps") { scope in
            """
            SELECT count(*) AS count FROM granting.ledger
            WHERE source_type = 'SANDBOX_SWEEP' AND \(scope.wallets("customer"))
            """
        }, keys: ["customer", "source_id", "asset"]
    ) { scope in
        """
        SELECT customer, source_id, asset, format('line %s, drawn %s of %s', coalesce(s.amount::text, 'missing'),
            coalesce(d.drawn::text, 'nothing'), coalesce(d.environments, 'no lot')) AS problem
        FROM (SELECT customer, source_id, asset, amount FROM granting.ledger
            WHERE source_type = 'SANDBOX_SWEEP' AND \(scope.wallets("customer"))) s
        FULL JOIN (SELECT l.customer, d.source_id, l.asset, sum(d.amount) AS drawn,
                string_agg(DISTINCT l.environment, ' ') AS environments
            FROM granting.draws d JOIN granting.lots l ON l.id = d.lot
            WHERE d.kind = 'sweep' AND \(scope.wallets("l.customer"))
            GROUP BY l.customer, d.source_id, l.asset) d USING (customer, source_id, asset)
        WHERE s.amount IS DISTINCT FROM d.drawn OR d.environments IS DISTINCT FROM 'Sandbox'
        """
    }
}
