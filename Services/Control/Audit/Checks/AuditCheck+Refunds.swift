/// Refunds: what was taken back is the target that the newest statement sets, and what could not be taken is a debt.
extension AuditCheck {
    static let refunds = [
        newestShare, shareTaken, refundLines, refundDraws, refundEnvironment, debtOwner,
    ]

    private static let refunded = Subject("grants") { scope in
        "SELECT count(*) AS count FROM granting.grants WHERE \(scope.wallets("customer"))"
    }

    /// `share` thousandths of a per cent of `amount`, rounded down as the decisions do.
    private static func part(_ share: String, of amount: String) -> String {
        "div(\(amount)::numeric * \(share), 100000)"
    }

    private static let newestShare = AuditCheck(
        "refunds.newest", "the share that was taken back is the one the newest statement of Apple says", of: refunded,
        keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT n.environment, n.transaction_id,
            format('share taken %s, newest statement %s', n.applied_share, coalesce(n.share::text, 'missing'))
                AS problem
        FROM (SELECT g.environment, g.transaction_id, g.applied_share,
                -- What Apple pays back because of an upgrade is no refund.
                CASE WHEN t.is_upgraded AND t.product_type = 'Auto-Renewable Subscription' THEN 0
                    ELSE t.revoked_share END AS share
            FROM granting.grants g LEFT JOIN granting.transactions t USING (environment, transaction_id)
            WHERE g.kind = 'consumable' AND \(scope.purchases("g.environment", "g.transaction_id"))
            UNION ALL
            -- One purchase event, whichever transaction tells of it.
            (SELECT DISTINCT ON (g.environment, g.transaction_id) g.environment, g.transaction_id, g.applied_share,
                CASE WHEN t.is_upgraded THEN 0 ELSE t.revoked_share END
            FROM granting.grants g LEFT JOIN granting.transactions t ON t.environment = g.environment
                AND t.original_transaction_id = g.original_transaction_id AND t.owner = g.customer
                AND \(toldPeriod) = g.web_order_line_item_id
            WHERE g.kind = 'period' AND \(scope.wallets("g.customer"))
            ORDER BY g.environment, g.transaction_id, t.signed_date DESC, t.revoked_share DESC,
                t.payload_hash COLLATE "C" DESC)
            UNION ALL
            (SELECT DISTINCT ON (g.environment, g.transaction_id) g.environment, g.transaction_id, g.applied_share,
                t.revoked_share
            FROM granting.grants g LEFT JOIN granting.transactions t ON t.environment = g.environment
                AND t.original_transaction_id = g.original_transaction_id AND t.owner = g.customer
            WHERE g.kind = 'non_consumable' AND \(scope.wallets("g.customer"))
            ORDER BY g.environment, g.transaction_id, t.signed_date DESC, t.revoked_share DESC,
                t.payload_hash COLLATE "C" DESC)) n
        WHERE n.applied_share IS DISTINCT FROM n.share
            -- A reversal that would overflow the account waits for the next statement.
            AND NOT EXISTS (SELECT FROM granting.lots l JOIN granting.accounts a USING (customer, asset)
                WHERE l.environment = n.environment AND l.transaction_id = n.transaction_id AND n.share < n.applied_share
                    AND a.balance + \(part("n.applied_share", of: "l.amount")) - \(part("n.share", of: "l.amount"))
                        > 9223372036854775807)
        """
    }

    private static let shareTaken = AuditCheck(
        "refunds.taken", "the share taken back is what was drawn for it and what is owed", of: refunded,
        keys: ["environment", "transaction_id", "asset"]
    ) { scope in
        """
        SELECT l.environment, l.transaction_id, l.asset, format('%s should be taken, %s drawn, %s owed',
            \(part("g.applied_share", of: "l.amount")), coalesce(t.taken, 0), coalesce(b.amount - b.settled, 0))
                AS problem
        FROM granting.lots l
        JOIN granting.grants g ON g.environment = l.environment AND g.transaction_id = l.transaction_id
        LEFT JOIN (SELECT d.refunded_environment AS environment, d.refunded_transaction AS transaction_id, o.asset,
                sum(d.amount) AS taken
            FROM granting.draws d JOIN granting.lots o ON o.id = d.lot
            WHERE d.refunded_transaction IS NOT NULL AND \(scope.wallets("o.customer"))
            GROUP BY 1, 2, 3) t
            ON t.environment = l.environment AND t.transaction_id = l.transaction_id AND t.asset = l.asset
        LEFT JOIN granting.debts b
            ON b.environment = l.environment AND b.transaction_id = l.transaction_id AND b.asset = l.asset
        WHERE \(scope.wallets("l.customer"))
            AND \(part("g.applied_share", of: "l.amount")) <> coalesce(t.taken, 0) + coalesce(b.amount - b.settled, 0)
        """
    }

    private static let refundLines = AuditCheck(
        "refunds.lines", "every change of a refund has exactly one line in the ledger for each asset", of: refunded,
        keys: ["environment", "transaction_id", "asset"]
    ) { scope in
        """
        SELECT environment, transaction_id, asset, format('%s change(s), %s line(s) for revisions %s to %s',
            coalesce(g.revision, 0), coalesce(r.lines, 0), r.first, r.last) AS problem
        FROM (SELECT g.environment, g.transaction_id, l.asset, g.revision
            FROM granting.grants g JOIN granting.lots l USING (environment, transaction_id)
            WHERE g.revision > 0 AND \(scope.wallets("g.customer"))) g
        FULL JOIN (SELECT l.environment, \(namedTransaction) AS transaction_id, l.asset, count(*) AS lines,
                count(DISTINCT \(namedRevision)) AS revisions, min(\(namedRevision)) AS first, max(\(namedRevision)) AS last
            FROM granting.ledger l
            WHERE l.source_type IN ('APPLE_REFUND', 'APPLE_REFUND_REVERSED') AND \(scope.wallets("l.customer"))
            GROUP BY 1, 2, 3) r USING (environment, transaction_id, asset)
        WHERE r.lines IS DISTINCT FROM g.revision OR r.revisions IS DISTINCT FROM g.revision
            OR r.first IS DISTINCT FROM 1 OR r.last IS DISTINCT FROM g.revision
        """
    }

    private static let refundDraws = drawnLines(
        "refunds.draws", "what each refund's line says was drawn from lots of the same wallet", of: refunded,
        lines: ["APPLE_REFUND", "APPLE_REFUND_REVERSED"], draws: "clawback")

    /// Lines of the ledger and draws on lots that must say the same, source by source.
    static func drawnLines(
        _ name: String, _ proves: String, of subject: Subject, lines sources: [String], draws kind: String
    ) -> AuditCheck {
        let sources = sources.map { "'\($0)'" }.joined(separator: ", ")
        return AuditCheck(name, proves, of: subject, keys: ["environment", "source_id", "asset"]) { scope in
            """
            SELECT environment, source_id, asset, format('line %s, drawn %s', coalesce(l.moved, 0), coalesce(d.drawn, 0))
                AS problem
            FROM (SELECT environment, source_id, asset, customer,
                    sum(CASE direction WHEN 'OUT' THEN amount ELSE -amount END) AS moved
                FROM granting.ledger WHERE source_type IN (\(sources)) AND \(scope.wallets("customer"))
                GROUP BY 1, 2, 3, 4) l
            FULL JOIN (SELECT d.refunded_environment AS environment, d.source_id, o.asset, o.customer,
                    sum(d.amount) AS drawn
                FROM granting.draws d JOIN granting.lots o ON o.id = d.lot
                WHERE d.kind = '\(kind)' AND \(scope.wallets("o.customer"))
                GROUP BY 1, 2, 3, 4) d USING (environment, source_id, asset, customer)
            WHERE coalesce(l.moved, 0) <> coalesce(d.drawn, 0)
            """
        }
    }

    private static let refundEnvironment = AuditCheck(
        "refunds.environment", "a refund draws on lots of its own environment and customer only",
        of: Subject("draws") { scope in
            """
            SELECT count(*) AS count FROM granting.draws
            WHERE refunded_transaction IS NOT NULL AND \(scope.lots("lot"))
            """
        }, keys: ["draw", "lot"]
    ) { scope in
        """
        SELECT d.id AS draw, d.lot, format('a lot of %s was drawn for a refund of %s/%s', l.environment,
            d.refunded_environment, d.refunded_transaction) AS problem
        FROM granting.draws d JOIN granting.lots l ON l.id = d.lot
        LEFT JOIN granting.grants g
            ON g.environment = d.refunded_environment AND g.transaction_id = d.refunded_transaction
        WHERE d.refunded_transaction IS NOT NULL AND \(scope.wallets("l.customer"))
            AND (d.refunded_environment <> l.environment OR g.customer IS DISTINCT FROM l.customer)
        """
    }

    private static let debtOwner = AuditCheck(
        "refunds.debts", "every debt is its grant's customer's, and what is settled of it was drawn",
        of: Subject("debts") { scope in
            "SELECT count(*) AS count FROM granting.debts WHERE \(scope.wallets("customer"))"
        }, keys: ["environment", "transaction_id", "asset"]
    ) { scope in
        """
        SELECT b.environment, b.transaction_id, b.asset, format('%s owed, %s settled, %s repaid, debtor %s',
            b.amount, b.settled, coalesce(r.repaid, 0), b.customer) AS problem
        FROM granting.debts b
        LEFT JOIN granting.lots l
            ON l.environment = b.environment AND l.transaction_id = b.transaction_id AND l.asset = b.asset
        LEFT JOIN (SELECT d.refunded_environment AS environment, d.refunded_transaction AS transaction_id, o.asset,
                sum(d.amount) AS repaid
            FROM granting.draws d JOIN granting.lots o ON o.id = d.lot WHERE d.kind = 'repayment' GROUP BY 1, 2, 3) r
            ON r.environment = b.environment AND r.transaction_id = b.transaction_id AND r.asset = b.asset
        WHERE \(scope.wallets("b.customer")) AND (l.customer IS DISTINCT FROM b.customer
            OR b.settled <> coalesce(r.repaid, 0) OR b.settled NOT BETWEEN 0 AND b.amount)
        """
    }
}
