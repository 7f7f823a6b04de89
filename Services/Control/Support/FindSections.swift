import Postgres

/// The questions behind `purser find`: each gives lines, oldest first.
enum FindSections {
    /// A question and the heading of its lines.
    struct Section {
        let title: String
        let sql: String
        let values: [SQLValue]
    }

    /// What is asked.
    static func sections(of request: FindCommand.Request) -> [Section] {
        switch request {
        case .transaction(let id, let showsPayload):
            return transaction(id) + (showsPayload ? payload(id) : [])
        case .order(let number): return order(number)
        // Told purchase by purchase, once Apple has answered.
        case .appleOrder: return []
        case .user(let user, let app, let limit): return self.user(user, app, limit)
        }
    }

    /// A time as everything here writes it.
    private static func time(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"
    }

    /// Both of Apple's, so that keys which begin with the environment are used.
    private static func both(_ column: String) -> String { "\(column) IN ('Production', 'Sandbox')" }

    private static func transaction(_ id: String) -> [Section] {
        [
            Section(
                title: "purchase", sql: purchases("\(both("t.environment")) AND t.transaction_id = $1"),
                values: [.text(id)]),
            Section(title: "timeline (UTC)", sql: timeline, values: [.text(id)]),
            Section(
                title: "wallet",
                sql: """
                    SELECT format('%s %s of %s left, lot %s%s', l.asset, l.remaining, l.amount, l.id,
                        CASE WHEN l.is_frozen THEN ', frozen' ELSE '' END) AS line
                    FROM granting.lots l WHERE \(both("l.environment")) AND l.transaction_id = $1 ORDER BY l.id
                    """, values: [.text(id)]),
            Section(
                title: "ledger (UTC)",
                sql: ledger(
                    """
                    l.customer IN (SELECT customer FROM granting.grants WHERE \(both("environment"))
                        AND transaction_id = $1) AND starts_with(l.source_id, $1 || '/')
                    """, "ASC", limit: 1_000),
                values: [.text(id)]),
            Section(
                title: "findings",
                sql: """
                    SELECT format('%s %s %s, attempts %s', f.id, f.kind, f.state, f.attempts) AS line
                    FROM reconciliation.findings f WHERE f.transaction_id = $1 ORDER BY f.id
                    """, values: [.text(id)]),
        ]
    }

    /// What happened, whoever wrote it down.
    private static let timeline = """
        SELECT \(time("at")) || '  ' || what AS line FROM (
            SELECT verified_at AS at, format('verified, handed in by %s, order %s', coalesce(submitter, 'nobody'),
                coalesce(order_number, '-')) AS what
            FROM verification.evidence WHERE transaction_id = $1 AND environment IN ('Production', 'Sandbox')
            UNION ALL SELECT requested_at, format('%s asked by %s: %s', kind, actor, reason)
            FROM verification.redrives WHERE transaction_id = $1
            UNION ALL SELECT stored_at, format('Apple told %s%s', type, coalesce(' ' || subtype, ''))
            FROM intake.notifications WHERE transaction_id = $1
            UNION ALL SELECT r.signed_date, format('Apple asked about its use: %s, %s', r.state, r.reason)
            FROM (SELECT to_timestamp(signed_date / 1000.0) AS signed_date, state, reason, transaction_id
                FROM intake.consumption_requests) AS r WHERE r.transaction_id = $1
            UNION ALL SELECT granted_at, format('granted to customer %s, order %s', customer, coalesce(order_number, '-'))
            FROM granting.grants WHERE transaction_id = $1 AND environment IN ('Production', 'Sandbox')
            UNION ALL SELECT processed_at, format('%s %% revoked', trim_scale(revoked_share / 1000.0))
            FROM granting.refund_statements WHERE transaction_id = $1 AND environment IN ('Production', 'Sandbox')
            UNION ALL SELECT to_timestamp(occurred_at / 1000.0), 'told: ' || type
            FROM reconciliation.journal WHERE transaction_id = $1
        ) AS events(at, what) ORDER BY at, what
        """

    private static func payload(_ id: String) -> [Section] {
        [
            Section(
                title: "what Apple signed",
                sql: """
                    SELECT convert_from(payload, 'UTF8') AS line FROM verification.evidence
                    WHERE environment IN ('Production', 'Sandbox') AND transaction_id = $1 ORDER BY signed_date
                    """, values: [.text(id)])
        ]
    }

    private static func order(_ number: String) -> [Section] {
        [
            Section(
                title: "order",
                sql: """
                    SELECT format('%s %s, app %s, user %s, customer %s, made %s, %s', o.order_number, o.product_id, o.app,
                        coalesce(c.user_id, '(erased)'), o.customer, \(time("o.created_at")),
                        CASE WHEN o.delivered_transaction IS NOT NULL
                            THEN 'delivered by ' || o.delivered_environment || '/' || o.delivered_transaction
                            WHEN o.expires_at < clock_timestamp() THEN 'expired' ELSE 'open' END) AS line
                    FROM granting.orders o JOIN granting.customers c USING (customer)
                    WHERE o.order_number = $1
                    """, values: [.text(number)]),
            Section(
                title: "purchases on it",
                sql: purchases(
                    """
                    t.owner = (SELECT customer FROM granting.orders WHERE order_number = $1)
                        AND (t.order_number = $1 OR t.submitted_order = $1)
                    """), values: [.text(number)]),
        ]
    }

    private static func user(_ user: String, _ app: String, _ limit: Int64) -> [Section] {
        let values: [SQLValue] = [.text(user), .text(app)]
        let own = "(SELECT customer FROM granting.customers WHERE user_id = $1 AND app = $2)"
        return [
            Section(
                title: "customer",
                sql: """
                    SELECT format('%s, known since %s', customer, \(time("created_at"))) AS line
                    FROM granting.customers WHERE user_id = $1 AND app = $2
                    """, values: values),
            Section(
                title: "balances",
                sql: """
                    SELECT format('%s %s', balance, asset) AS line FROM granting.accounts WHERE customer = \(own)
                    ORDER BY asset
                    """, values: values),
            Section(
                title: "purchases", sql: purchases("t.owner = \(own)") + " DESC LIMIT \(limit)", values: values),
            Section(
                title: "ledger (UTC)", sql: ledger("l.customer = \(own)", "DESC", limit: limit), values: values),
        ]
    }

    private static func purchases(_ condition: String) -> String {
        """
        SELECT format('%s/%s %s × %s, app %s, user %s, order %s: %s%s', t.environment, t.transaction_id, t.product_id,
            t.quantity, t.app, coalesce(c.user_id, CASE WHEN t.owner IS NULL THEN 'nobody' ELSE '(erased)' END),
            coalesce(t.order_number, t.submitted_order, '-'),
            CASE WHEN t.delivered_by IS NOT NULL THEN 'granted' WHEN t.held_reason IS NOT NULL
                THEN 'held, ' || t.held_reason WHEN t.owner IS NULL THEN 'waits for an owner' ELSE 'not delivered' END,
            CASE WHEN t.revoked_share > 0 THEN format(', %s %% revoked', trim_scale(t.revoked_share / 1000.0)) ELSE '' END) AS line
        FROM granting.transactions t LEFT JOIN granting.customers c ON c.customer = t.owner
        WHERE \(condition) ORDER BY t.created_at
        """
    }

    private static func ledger(_ condition: String, _ order: String, limit: Int64) -> String {
        """
        SELECT format('%s  %s %s %s, balance %s, %s %s', \(time("l.created_at")), l.direction, l.amount, l.asset,
            l.balance_after, l.source_type, l.source_id) AS line
        FROM granting.ledger l WHERE \(condition) ORDER BY l.id \(order) LIMIT \(limit)
        """
    }
}
