import Messages

/// From Apple's statement to a decision: nothing genuine is lost, nothing is granted without proof.
extension AuditCheck {
    static let purchases = [proof, evidenceText, decided]

    private static let transactions = Subject("transactions") { scope in
        """
        SELECT count(*) AS count FROM granting.transactions t
        WHERE \(scope.purchases("t.environment", "t.transaction_id"))
        """
    }

    private static let statements = Subject("statements") { scope in
        "SELECT count(*) AS count FROM verification.evidence WHERE \(scope.new("verified_at"))"
    }

    private static let proof = AuditCheck(
        "purchases.proof", "what is stored of every transaction is a statement of Apple that was verified",
        of: transactions, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT t.environment, t.transaction_id, format('the statement of %s is no evidence', t.signed_date) AS problem
        FROM granting.transactions t
        LEFT JOIN verification.evidence e ON e.environment = t.environment AND e.transaction_id = t.transaction_id
            AND e.signed_date = t.signed_date AND encode(e.payload_hash, 'hex') = t.payload_hash AND e.app = t.app
        WHERE e.message IS NULL AND \(scope.purchases("t.environment", "t.transaction_id"))
            AND NOT EXISTS (SELECT FROM intake.notifications n, \(toldStatement) AS told
                WHERE n.environment = t.environment AND n.transaction_id = t.transaction_id AND n.app = t.app
                AND encode(sha256(told.payload), 'hex') = t.payload_hash)
            AND NOT EXISTS (\(receiptOfStatement))
        """
    }

    /// The receipt that the statement of `t` is, or whose revocation a signed transaction has taken over.
    private static let receiptOfStatement = """
        SELECT FROM verification.receipt_purchases p JOIN verification.receipts r ON r.content_hash = p.content_hash
        WHERE p.environment = t.environment AND p.transaction_id = t.transaction_id AND r.app = t.app
            AND r.creation_date = t.signed_date
            AND (t.payload_hash = 'receipt:' || encode(r.content_hash, 'hex') OR EXISTS (
                SELECT FROM verification.evidence s
                WHERE s.environment = t.environment AND s.transaction_id = t.transaction_id
                    AND encode(s.payload_hash, 'hex') = t.payload_hash))
        """

    /// The signed bytes of the transaction inside a notification `n`: the middle of its JWS, base64url (RFC 7515 §2).
    private static let toldStatement = """
        LATERAL (SELECT decode(rpad(segment, (length(segment) + 3) / 4 * 4, '='), 'base64') AS payload FROM translate(
            split_part(convert_from(n.payload, 'UTF8')::jsonb #>> '{data,signedTransactionInfo}', '.', 2), '-_', '+/')
            AS segment)
        """

    private static let evidenceText = AuditCheck(
        "purchases.evidence", "every statement and every certificate chain is what was verified, byte by byte",
        of: statements, keys: ["environment", "transaction_id", "signed_date"]
    ) { scope in
        """
        SELECT e.environment, e.transaction_id, e.signed_date, 'the payload is not the one that was verified' AS problem
        FROM verification.evidence e
        WHERE \(scope.new("e.verified_at")) AND sha256(e.payload) <> e.payload_hash
        UNION ALL
        SELECT e.environment, e.transaction_id, e.signed_date, format('header %s is not the one that was verified', h.id)
        FROM verification.headers h JOIN verification.evidence e ON e.header = h.id
        WHERE \(scope.new("e.verified_at")) AND sha256(convert_to(h.segment, 'UTF8')) <> h.digest
        """
    }

    /// A transaction is delivered, held, claimable (no owner), or wholly revoked: of a non-consumable or of a subscription's
    /// period by the newest statement of its chain or period, and it may also wait beside another transaction of that
    /// which was delivered.
    private static let decided = AuditCheck(
        "purchases.decided", "every transaction is granted, held with its reason, refunded, or waits for an owner",
        of: transactions, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT t.environment, t.transaction_id, 'has an owner, and was neither delivered nor held nor refunded'
            AS problem
        FROM granting.transactions t
        WHERE t.owner IS NOT NULL AND t.delivered_by IS NULL AND t.held_reason IS NULL AND t.revoked_share < 100000
            AND \(scope.purchases("t.environment", "t.transaction_id"))
            AND NOT (t.product_type IN ('Non-Consumable', 'Auto-Renewable Subscription')
                AND EXISTS (SELECT FROM granting.transactions o
                    WHERE o.environment = t.environment AND o.original_transaction_id = t.original_transaction_id
                        AND o.owner = t.owner AND (o.delivered_by IS NOT NULL OR o.revoked_share = 100000)
                        AND (t.product_type = 'Non-Consumable' OR coalesce(o.web_order_line_item_id, o.transaction_id)
                            = \(toldPeriod))))
        """
    }

    /// Statements that were verified and that Granting has not seen, older than the grace, oldest first. Those whose
    /// message is not published yet are not among them: the sweep will publish it.
    static let purchasesSeen = SightCheck(
        "purchases.seen", "every verified statement was decided on", of: "verified statement(s)", verb: "verified",
        keys: ["environment", "transaction_id"], queue: Topology.grantingPurchases
    ) { scope, grace in
        """
        SELECT e.environment, e.transaction_id, e.message, e.verified_at AS at, NULL AS problem
        FROM verification.evidence e
        LEFT JOIN granting.transactions t ON t.environment = e.environment AND t.transaction_id = e.transaction_id
        WHERE (t.signed_date IS NULL OR t.signed_date < e.signed_date) AND \(scope.new("e.verified_at"))
            AND e.verified_at < clock_timestamp() - make_interval(secs => \(grace))
            AND NOT EXISTS (SELECT FROM verification.facts f
                WHERE f.cause = e.message AND f.id IN (SELECT unnest(u.facts) FROM verification.unannounced u))
        """
    }

    /// What became of everything verified, for the report.
    static func outcomes(_ scope: AuditScope) -> String {
        """
        SELECT CASE WHEN t.delivered_by = t.transaction_id THEN 'granted' WHEN t.delivered_by IS NOT NULL THEN 'restored'
                WHEN t.held_reason IS NOT NULL THEN 'held: ' || t.held_reason WHEN t.revoked_share = 100000 THEN 'refunded'
                WHEN t.owner IS NULL THEN 'without owner' ELSE 'beside another of its chain' END AS outcome,
            count(*) AS count
        FROM granting.transactions t WHERE \(scope.purchases("t.environment", "t.transaction_id"))
        GROUP BY 1 ORDER BY 2 DESC, 1
        """
    }
}
