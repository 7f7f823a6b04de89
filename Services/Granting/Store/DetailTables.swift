import Messages
import Pipeline
import Postgres

/// What the books say about purchases, row by row. Nobody's user id is asked for or told; all of it is of one instant.
enum DetailTables {
    /// The first ``PurchaseStatesRequested/mostKeys`` purchases asked for. Every part is found by a key.
    static func read(_ question: PurchaseStatesRequested) -> Statement {
        let keys = question.keys.prefix(PurchaseStatesRequested.mostKeys)
        return Statement(
            """
            SELECT k.environment, k.transaction_id, t.held_reason, \(StateTables.outcome) AS outcome,
                t.app, t.owner, t.product_id, t.quantity, t.purchase_date, t.price, t.currency, t.storefront,
                t.signed_date, t.revoked_share, t.revocation_date,
                \(order) AS order_number,
                CASE WHEN o.order_number IS NULL THEN NULL
                    WHEN o.delivered_environment = t.environment AND o.delivered_transaction = t.transaction_id
                        THEN 'COMPLETED'
                    WHEN o.delivered_transaction IS NOT NULL THEN 'OTHER'
                    WHEN o.expires_at < now() THEN 'EXPIRED' ELSE 'CREATED' END AS order_status,
                g.granted_at, g.applied_share, r.processed_at, lots.assets AS lot_assets, lots.amounts AS lot_amounts,
                g.starter_units IS NOT NULL OR g.transaction_id IS NULL AS is_special,
                given.assets AS given_assets, given.amounts AS given_amounts, line.assets AS line_assets,
                line.amounts AS line_amounts, back.assets AS back_assets, back.amounts AS back_amounts,
                debt.assets AS debt_assets, debt.amounts AS debt_amounts
            FROM unnest($1::text[], $2::text[]) AS k(environment, transaction_id)
            LEFT JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
            LEFT JOIN granting.grants g ON g.environment = t.environment AND g.transaction_id = t.transaction_id
            LEFT JOIN granting.orders o ON o.order_number = \(order)
            CROSS JOIN LATERAL (SELECT min(s.processed_at) AS processed_at FROM granting.refund_statements s
                WHERE s.environment = t.environment AND s.transaction_id = t.transaction_id AND s.revoked_share > 0) AS r
            \(amounts("lots", lots))
            \(amounts("given", given))
            \(amounts("line", lines("'APPLE_IAP'", sign: "IN")))
            \(amounts("back", lines("'APPLE_REFUND', 'APPLE_REFUND_REVERSED'", sign: "OUT")))
            \(amounts("debt", debts))
            """,
            [.textArray(keys.map(\.environment.rawValue)), .textArray(keys.map(\.transactionID.rawValue))])
    }

    /// What is delivered is delivered on its own order; before, the one that its submitter named is shown.
    private static let order =
        "CASE WHEN g.transaction_id IS NULL THEN coalesce(t.order_number, t.submitted_order) ELSE t.order_number END"

    /// Amounts by asset as two arrays of equal order. A sum that a hand has made too large stays at the largest number.
    private static func amounts(_ name: String, _ sql: String) -> String {
        """
        CROSS JOIN LATERAL (SELECT array_agg(s.asset::text ORDER BY s.asset) AS assets,
                array_agg(least(greatest(s.amount, -9223372036854775807), 9223372036854775807)::bigint ORDER BY s.asset)
                    AS amounts
            FROM (SELECT asset, sum(amount) AS amount FROM (\(sql)) AS one GROUP BY asset) AS s) AS \(name)
        """
    }

    private static let lots = """
        SELECT l.asset, l.amount FROM granting.lots l
        WHERE l.environment = g.environment AND l.transaction_id = g.transaction_id
        """

    private static let given = """
        SELECT a.asset, a.amount::numeric * g.quantity AS amount FROM granting.product_amounts a
        WHERE a.app = g.app AND a.product_id = g.product_id AND a.version = g.product_version
        """

    private static let debts = """
        SELECT d.asset, d.amount - d.settled AS amount FROM granting.debts d
        WHERE d.environment = g.environment AND d.transaction_id = g.transaction_id AND d.amount > d.settled
        """

    /// The lines whose source is this purchase: their ids begin with its own and a slash, which 0 follows in the order of
    /// bytes; so they are read from the ledger's unique index.
    private static func lines(_ sources: String, sign: String) -> String {
        """
        SELECT l.asset, CASE l.direction WHEN '\(sign)' THEN l.amount ELSE -l.amount END AS amount
        FROM granting.ledger l WHERE l.customer = g.customer AND l.source_type IN (\(sources))
            AND l.source_id >= g.transaction_id || '/' AND l.source_id < g.transaction_id || '0'
            AND l.environment = g.environment
        """
    }

    /// The answer.
    static func answer(_ rows: Rows) throws -> PurchaseStatesAnswered {
        PurchaseStatesAnswered(
            states: try rows.compactMap { row in
                guard var state = try StateTables.state(row) else { return nil }
                if state.outcome != .unknown { state.details = try details(row) }
                return state
            })
    }

    private static func details(_ row: Row) throws -> PurchaseDetails {
        var details = PurchaseDetails(
            app: AppID(try row.text("app")), productID: ProductID(try row.text("product_id")),
            quantity: try row.int8("quantity"), purchaseDate: try row.int8("purchase_date"),
            signedDate: try row.int8("signed_date"), revokedShare: try row.int8("revoked_share"))
        details.customer = try row.optionalID("owner")
        details.price = try row.optionalInt8("price")
        details.currency = try row.optionalText("currency")
        details.storefront = try row.optionalText("storefront")
        details.orderNumber = try row.optionalName("order_number")
        details.orderStatus = try row.optionalText("order_status")
            .flatMap { PurchaseDetails.OrderStatus(rawValue: $0) }
        details.grantedAt = try row.optionalTimestampMilliseconds("granted_at")
        details.appliedShare = try row.optionalInt8("applied_share")
        details.refundedAt = try row.optionalInt8("revocation_date")
        details.refundProcessedAt = try row.optionalTimestampMilliseconds("processed_at")
        details.amounts = try QueryTables.amounts(row, "lot_assets", "lot_amounts")
        details.expected = try row.bool("is_special") ? nil : QueryTables.amounts(row, "given_assets", "given_amounts")
        details.ledger = try QueryTables.amounts(row, "line_assets", "line_amounts")
        details.taken = try QueryTables.amounts(row, "back_assets", "back_amounts")
        details.owed = try QueryTables.amounts(row, "debt_assets", "debt_amounts")
        return details
    }
}
