import Messages
import Postgres

/// What was delivered to a user, page by page.
enum HistoryTables {
    /// A page, newest first, and one row more to know whether another follows.
    ///
    /// The customer's deliveries are found by an index and sorted here: some dozens, of the keenest some thousands. A
    /// refund's date may stand with another transaction than the delivered one: a restore, or a copy of a period.
    static func read(_ question: HistoryRequested, limit: Int64) -> Statement {
        Statement(
            """
            SELECT g.environment, g.transaction_id, g.product_id, g.quantity, g.applied_share,
                (extract(epoch FROM g.granted_at) * 1000000)::bigint AS microseconds, t.purchase_date,
                coalesce(t.revocation_date, r.revocation_date) AS revocation_date, l.assets, l.amounts
            FROM granting.customers c
            CROSS JOIN LATERAL (SELECT * FROM granting.grants g
                WHERE g.customer = c.customer
                    AND ($3::bigint IS NULL
                        OR ((extract(epoch FROM g.granted_at) * 1000000)::bigint, g.environment, g.transaction_id)
                            < ($3, $4::text, $5::text))
                ORDER BY g.granted_at DESC, g.environment DESC, g.transaction_id DESC LIMIT $6) AS g
            JOIN granting.transactions t ON t.environment = g.environment AND t.transaction_id = g.transaction_id
            CROSS JOIN LATERAL (SELECT max(o.revocation_date) AS revocation_date FROM granting.transactions o
                WHERE g.applied_share > 0 AND g.kind <> 'consumable' AND o.environment = g.environment
                    AND o.original_transaction_id = g.original_transaction_id AND o.owner = g.customer
                    AND (g.kind = 'non_consumable' OR o.web_order_line_item_id = g.web_order_line_item_id)) AS r
            CROSS JOIN LATERAL (SELECT array_agg(l.asset::text ORDER BY l.asset) AS assets,
                    array_agg(l.amount ORDER BY l.asset) AS amounts
                FROM granting.lots l
                WHERE l.environment = g.environment AND l.transaction_id = g.transaction_id) AS l
            WHERE c.app = $1 AND c.user_id = $2
            ORDER BY g.granted_at DESC, g.environment DESC, g.transaction_id DESC
            """,
            [
                .text(question.app.rawValue), .text(question.userID.rawValue), .int8(question.before?.microseconds),
                .text(question.before?.environment.rawValue), .text(question.before?.transactionID.rawValue),
                .int8(limit + 1),
            ])
    }

    /// The page, and where the next one begins.
    static func page(_ rows: Rows, limit: Int64) throws -> HistoryAnswered {
        let purchases = try rows.prefix(Int(limit)).map { row in
            let share = try row.int8("applied_share")
            return DeliveredPurchase(
                place: HistoryPlace(
                    microseconds: try row.int8("microseconds"), environment: try row.book("environment"),
                    transactionID: TransactionID(try row.text("transaction_id"))),
                productID: ProductID(try row.text("product_id")), quantity: try row.int8("quantity"),
                amounts: try QueryTables.amounts(row, "assets", "amounts"),
                purchaseDate: try row.int8("purchase_date"), revokedShare: share,
                revokedAt: share > 0 ? try row.optionalInt8("revocation_date") : nil)
        }
        return HistoryAnswered(
            purchases: purchases, nextBefore: rows.count > Int(limit) ? purchases.last?.place : nil)
    }
}
