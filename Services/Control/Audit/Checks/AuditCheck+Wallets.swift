/// The balances and the ledger: Σ ledger = balance = Σ what is left of the lots, for every account.
extension AuditCheck {
    static let wallets = [ledgerSum, ledgerChain, accountRevision, lotSum, notNegative, ledgerCause]

    private static let accounts = Subject("accounts") { scope in
        "SELECT count(*) AS count FROM granting.accounts WHERE \(scope.wallets("customer"))"
    }
    static let ledgerLines = Subject("lines") { scope in
        "SELECT count(*) AS count FROM granting.ledger WHERE \(scope.wallets("customer"))"
    }

    private static let ledgerSum = AuditCheck(
        "wallets.ledger", "every balance is the sum of its lines in the ledger", of: accounts,
        keys: ["customer", "asset"]
    ) { scope in
        """
        SELECT customer, asset, format('balance %s, ledger %s', coalesce(a.balance::text, 'missing'), coalesce(l.sum, 0))
            AS problem
        FROM (SELECT customer, asset, balance FROM granting.accounts WHERE \(scope.wallets("customer"))) a
        FULL JOIN (SELECT customer, asset, sum(CASE direction WHEN 'IN' THEN amount ELSE -amount END) AS sum
            FROM granting.ledger WHERE \(scope.wallets("customer")) GROUP BY customer, asset) l USING (customer, asset)
        WHERE a.balance IS DISTINCT FROM coalesce(l.sum, 0)
        """
    }

    private static let ledgerChain = AuditCheck(
        "wallets.chain", "the balance after each line is the one before it and the line's amount", of: ledgerLines,
        keys: ["customer", "asset", "line"]
    ) { scope in
        """
        SELECT customer, asset, id AS line, format('%s after %s and %s', balance_after, previous, delta) AS problem
        FROM (SELECT id, customer, asset, balance_after, CASE direction WHEN 'IN' THEN amount ELSE -amount END AS delta,
                lag(balance_after, 1, 0::bigint) OVER (PARTITION BY customer, asset ORDER BY id) AS previous
            FROM granting.ledger WHERE \(scope.wallets("customer"))) c
        WHERE balance_after <> previous::numeric + delta
        """
    }

    private static let accountRevision = AuditCheck(
        "wallets.revision", "every change of a balance has its line: the revision counts them without gap",
        of: accounts, keys: ["customer", "asset"]
    ) { scope in
        """
        SELECT customer, asset, format('revision %s, lines %s', a.revision, coalesce(l.lines, 0)) AS problem
        FROM (SELECT customer, asset, revision FROM granting.accounts WHERE \(scope.wallets("customer"))) a
        LEFT JOIN (SELECT customer, asset, count(*) AS lines
            FROM granting.ledger WHERE \(scope.wallets("customer")) GROUP BY customer, asset) l USING (customer, asset)
        WHERE a.revision <> coalesce(l.lines, 0)
        """
    }

    private static let lotSum = AuditCheck(
        "wallets.lots", "every balance is the sum of what is left of its lots", of: accounts,
        keys: ["customer", "asset"]
    ) { scope in
        """
        SELECT customer, asset, format('balance %s, lots %s', coalesce(a.balance::text, 'missing'), coalesce(l.sum, 0))
            AS problem
        FROM (SELECT customer, asset, balance FROM granting.accounts WHERE \(scope.wallets("customer"))) a
        FULL JOIN (SELECT customer, asset, sum(remaining) AS sum
            FROM granting.lots WHERE \(scope.wallets("customer")) GROUP BY customer, asset) l USING (customer, asset)
        WHERE a.balance IS DISTINCT FROM coalesce(l.sum, 0)
        """
    }

    private static let notNegative = AuditCheck(
        "wallets.negative", "no balance was ever negative", of: ledgerLines, keys: ["customer", "asset"]
    ) { scope in
        """
        SELECT customer, asset, format('balance %s', balance) AS problem FROM granting.accounts
        WHERE balance < 0 AND \(scope.wallets("customer"))
        UNION ALL
        SELECT customer, asset, format('line %s: amount %s, balance %s', id, amount, balance_after) FROM granting.ledger
        WHERE (balance_after < 0 OR amount < 0) AND \(scope.wallets("customer"))
        """
    }

    /// The purchase that a source id `<transactionId>/<revision>` names.
    static let namedTransaction = "left(l.source_id, -1 - length(split_part(l.source_id, '/', -1)))"
    /// The revision it names; NULL if it names none.
    static let namedRevision = "substring(l.source_id FROM '/([0-9]{1,18})$')::bigint"

    private static let ledgerCause = AuditCheck(
        "wallets.causes",
        "every line has exactly one cause: a grant, a change of a refund, a repaid debt, a sweep, or a spend",
        of: ledgerLines, keys: ["customer", "asset", "line"]
    ) { scope in
        """
        SELECT l.customer, l.asset, l.id AS line, format('%s %s: %s', l.source_type, l.source_id,
            CASE WHEN g.transaction_id IS NULL AND s.source_id IS NULL AND p.transaction_id IS NULL THEN 'no cause' ELSE 'its cause says otherwise' END)
                AS problem
        FROM granting.ledger l
        LEFT JOIN granting.grants g ON l.source_type <> ALL ('{APP_USAGE,DEBT_REPAYMENT}') AND g.environment = l.environment
            AND g.transaction_id = \(namedTransaction) AND g.customer = l.customer
        LEFT JOIN granting.spends s ON l.source_type = 'APP_USAGE' AND s.customer = l.customer
            AND s.source_id = l.source_id
        -- <owed for>/<paid by>/<revision of the grant that paid>
        LEFT JOIN granting.debts b ON l.source_type = 'DEBT_REPAYMENT' AND b.environment = l.environment
            AND b.transaction_id = split_part(l.source_id, '/', 1) AND b.asset = l.asset AND b.customer = l.customer
        LEFT JOIN granting.grants p ON l.source_type = 'DEBT_REPAYMENT' AND p.environment = l.environment
            AND p.transaction_id = split_part(l.source_id, '/', 2) AND p.customer = l.customer
        WHERE \(scope.wallets("l.customer")) AND NOT coalesce(CASE l.source_type
            WHEN 'APPLE_IAP' THEN l.direction = 'IN' AND l.source_id = g.transaction_id || '/0' AND l.cause = g.cause
            WHEN 'APPLE_REFUND' THEN l.direction = 'OUT' AND \(namedRevision) BETWEEN 1 AND g.revision
            WHEN 'APPLE_REFUND_REVERSED' THEN l.direction = 'IN' AND \(namedRevision) BETWEEN 1 AND g.revision
            WHEN 'DEBT_REPAYMENT' THEN l.direction = 'OUT' AND b.customer IS NOT NULL
                AND \(namedRevision) BETWEEN 0 AND p.revision
            WHEN 'DEBT_REPAYMENT_RETURNED' THEN l.direction = 'IN' AND \(namedRevision) BETWEEN 1 AND g.revision
            WHEN 'SANDBOX_SWEEP' THEN l.direction = 'OUT' AND g.environment = 'Sandbox' AND g.swept_at IS NOT NULL
            WHEN 'APP_USAGE' THEN l.direction = 'OUT' AND s.outcome = 'spent' AND s.asset = l.asset
                AND s.amount = l.amount AND s.balance_after = l.balance_after AND s.cause = l.cause
            ELSE false END, false)
        """
    }
}
