/// What Apple said of refunds is on record, what is owed is paid back in lines of its own, and people were told.
extension AuditCheck {
    static let debts = [refundRecord, repayments, flaggedFact, clearedFact, repaidFact]

    private static let refundRecord = AuditCheck(
        "refunds.record", "of every refunded transaction the statement in force is on record with what it says",
        of: Subject("refunded transactions") { scope in
            """
            SELECT count(*) AS count FROM granting.transactions t
            WHERE t.revoked_share > 0 AND \(scope.purchases("t.environment", "t.transaction_id"))
            """
        }, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT t.environment, t.transaction_id, format('share %s by the statement of %s; on record: %s', t.revoked_share,
            t.signed_date, coalesce(r.revoked_share::text, 'nothing')) AS problem
        FROM granting.transactions t
        LEFT JOIN granting.refund_statements r ON r.environment = t.environment AND r.transaction_id = t.transaction_id
            AND r.signed_date = t.signed_date AND (r.payload_hash = t.payload_hash OR r.payload_hash LIKE 'receipt:%')
        WHERE t.revoked_share > 0 AND r.revoked_share IS DISTINCT FROM t.revoked_share
            AND \(scope.purchases("t.environment", "t.transaction_id"))
        """
    }

    private static let repayments = drawnLines(
        "refunds.repayments", "what each repayment's line says was drawn from lots of the same wallet",
        of: Subject("repayments") { scope in
            """
            SELECT count(*) AS count FROM granting.ledger
            WHERE source_type IN ('DEBT_REPAYMENT', 'DEBT_REPAYMENT_RETURNED') AND \(scope.wallets("customer"))
            """
        }, lines: ["DEBT_REPAYMENT", "DEBT_REPAYMENT_RETURNED"], draws: "repayment")

    private static let flaggedFact = announced(
        "facts.risk", "every flag was announced, and every one that was announced exists", "risk.flagged",
        causes: """
            SELECT environment || '/' || transaction_id || '/' || kind AS key, revision, cause, raised_at AS made
            FROM granting.risk_flags
            """
    ) { $0.new("c.made") }

    private static let clearedFact = announced(
        "facts.cleared", "every lifting of limits was announced, and every one that was announced is on record",
        "risk.cleared",
        causes: """
            SELECT customer::text AS key, 0::bigint AS revision, cause, cleared_at AS made
            FROM granting.risk_clearances
            """
    ) { $0.new("c.made") }

    private static let repaidFact = announced(
        "facts.repaid", "every repaid debt was announced, and every one that was announced exists", "debt.repaid",
        causes: """
            SELECT l.environment || '/' || split_part(l.source_id, '/', 1) || '/' || l.asset AS key,
                0::bigint AS revision, l.cause, l.created_at AS made
            FROM granting.ledger l WHERE l.source_type = 'DEBT_REPAYMENT'
            """
    ) { $0.new("c.made") }
}
