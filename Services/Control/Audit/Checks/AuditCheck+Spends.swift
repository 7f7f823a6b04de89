/// Spends: decided once, and the ledger says the same.
extension AuditCheck {
    static let spends = [spendLine]

    static let spendsDecided = Subject("spends") { scope in
        "SELECT count(*) AS count FROM granting.spends WHERE \(scope.new("decided_at"))"
    }

    private static let spendLine = AuditCheck(
        "spends.lines", "every spend has its line in the ledger, and no refused one has any", of: spendsDecided,
        keys: ["customer", "source_id"]
    ) { scope in
        """
        SELECT s.customer, s.source_id, format('%s %s of %s; line: %s', s.outcome, s.amount, s.asset,
            coalesce(l.amount || ' of ' || l.asset, 'none')) AS problem
        FROM granting.spends s
        LEFT JOIN granting.ledger l
            ON l.customer = s.customer AND l.source_id = s.source_id AND l.source_type = 'APP_USAGE'
        WHERE \(scope.new("s.decided_at")) AND CASE s.outcome
            WHEN 'spent' THEN l.id IS NULL OR s.code IS NOT NULL OR l.asset <> s.asset OR l.amount <> s.amount
                OR l.balance_after <> s.balance_after OR l.cause <> s.cause OR l.direction <> 'OUT'
            ELSE l.id IS NOT NULL OR s.code IS NULL END
        """
    }
}
