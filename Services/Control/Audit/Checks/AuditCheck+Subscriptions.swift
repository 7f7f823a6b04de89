/// Subscriptions: a period is credited once, whichever transaction tells of it, a subscription was claimed by one
/// customer, and renewal infos are what Apple told.
extension AuditCheck {
    static let subscriptions = [periodGrants, claimedOnce, renewalInfos]

    /// What names the period that a transaction `t` tells of.
    static let toldPeriod = "coalesce(t.web_order_line_item_id, t.transaction_id)"

    private static let periodGrants = AuditCheck(
        "subscriptions.periods",
        "a grant is once for its transaction, chain or period as its product is; what tells of a period has its grant",
        of: Subject("periods") { scope in
            "SELECT count(*) AS count FROM granting.grants WHERE kind = 'period' AND \(scope.wallets("customer"))"
        }, keys: ["environment", "transaction_id"]
    ) { scope in
        """
        SELECT g.environment, g.transaction_id, format('granted as %s of %s %s; it is %s of %s %s', g.kind,
            g.original_transaction_id, g.web_order_line_item_id, t.kind, t.original_transaction_id, t.item) AS problem
        FROM granting.grants g
        JOIN (SELECT t.*, CASE WHEN t.kind = 'period' THEN \(toldPeriod) END AS item
            FROM (SELECT *, CASE WHEN ownership = 'FAMILY_SHARED' THEN 'consumable'
                    WHEN product_type = 'Auto-Renewable Subscription' THEN 'period'
                    WHEN product_type = 'Non-Consumable' THEN 'non_consumable' ELSE 'consumable' END AS kind
                FROM granting.transactions) t) t
            ON t.environment = g.environment AND t.transaction_id = g.transaction_id
        WHERE \(scope.wallets("g.customer")) AND (g.kind <> t.kind OR g.web_order_line_item_id IS DISTINCT FROM t.item
            OR g.original_transaction_id <> t.original_transaction_id)
        UNION ALL
        SELECT t.environment, t.transaction_id, format('tells of the period that %s was granted for; delivered by %s',
            g.transaction_id, coalesce(t.delivered_by, 'nothing'))
        FROM granting.grants g
        JOIN granting.transactions t ON t.environment = g.environment
            AND t.original_transaction_id = g.original_transaction_id AND \(toldPeriod) = g.web_order_line_item_id
        WHERE g.kind = 'period' AND \(scope.wallets("g.customer")) AND t.ownership <> 'FAMILY_SHARED'
            AND t.owner = g.customer AND t.delivered_by IS DISTINCT FROM g.transaction_id
        """
    }

    private static let claimedOnce = AuditCheck(
        "subscriptions.owners", "nobody but its first owner got a period of a subscription without proof",
        of: Subject("subscriptions") { _ in
            """
            SELECT count(DISTINCT (environment, original_transaction_id)) AS count FROM granting.transactions
            WHERE product_type = 'Auto-Renewable Subscription'
            """
        }, keys: ["environment", "original_transaction_id"]
    ) { _ in
        """
        SELECT environment, original_transaction_id, format('claimed by %s customers', count(DISTINCT owner)) AS problem
        FROM granting.transactions
        WHERE product_type = 'Auto-Renewable Subscription' AND is_claimed_by_caller AND owner IS NOT NULL
        GROUP BY 1, 2 HAVING count(DISTINCT owner) > 1
        """
    }

    private static let renewalInfos = AuditCheck(
        "subscriptions.renewals", "every renewal info is one that Apple told, field by field",
        of: Subject("renewal infos") { scope in
            "SELECT count(*) AS count FROM granting.renewals WHERE \(scope.new("updated_at"))"
        }, keys: ["environment", "original_transaction_id"]
    ) { scope in
        """
        SELECT w.environment, w.original_transaction_id, format('the info of %s is none that was told', w.signed_date)
            AS problem
        FROM granting.renewals w WHERE \(scope.new("w.updated_at")) AND NOT EXISTS (
            SELECT FROM (\(told(scope))) AS f
            WHERE f.environment = w.environment AND f.subscription = w.original_transaction_id AND f.app = w.app
                AND f.renewal_date = w.signed_date AND f.renewal_hash = w.payload_hash
                AND (f.product_id, f.auto_renew_product_id, f.auto_renew_status, f.expiration_intent,
                    f.is_in_billing_retry, f.grace_period_expires_date, f.next_renewal_date)
                IS NOT DISTINCT FROM (w.product_id, w.auto_renew_product_id, w.auto_renew_status, w.expiration_intent,
                    w.is_in_billing_retry, w.grace_period_expires_date, w.renewal_date))
        """
    }
}
