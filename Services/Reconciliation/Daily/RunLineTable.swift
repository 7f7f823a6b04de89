import Messages
import Postgres

/// `reconciliation.run_lines`: the purchases of a day, each with what the books say.
enum RunLineTable {
    /// Writes down whose turn it is: what was bought on the day, and what the stream tells of that day (granted on
    /// Apple's word alone, held, refunded). One statement, however many there are.
    static func collect(_ plan: DayPlan, in transaction: inout Transaction) throws {
        let values: [SQLValue] = [.text(plan.app), .text(plan.day), .int8(plan.from), .int8(plan.to)]
        _ = try transaction.query(
            "DELETE FROM reconciliation.run_lines WHERE app = $1 AND day = $2::text::date", Array(values.prefix(2)))
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.run_lines (app, day, environment, transaction_id, verified_at, product_id, quantity,
                purchase_date, price, currency, storefront, order_number)
            SELECT $1, $2::text::date, k.environment, k.transaction_id, p.verified_at, p.product_id, p.quantity,
                p.purchase_date, p.price, p.currency, p.storefront, p.order_number
            FROM (SELECT environment, transaction_id FROM reconciliation.purchases
                    WHERE app = $1 AND environment IN ('Production', 'Sandbox') AND purchase_date >= $3
                        AND purchase_date < $4
                UNION SELECT environment, transaction_id FROM reconciliation.journal
                    WHERE occurred_at >= $3 AND occurred_at < $4 AND app = $1 AND transaction_id IS NOT NULL
                        AND type IN ('purchase.granted', 'purchase.held', 'purchase.clawedback')
                        AND environment IN ('Production', 'Sandbox')) AS k
            LEFT JOIN reconciliation.purchases p ON p.environment = k.environment
                AND p.transaction_id = k.transaction_id
            """, values)
    }

    /// The next purchases in the order of their keys.
    static func page(
        _ plan: DayPlan, after: PurchaseKey?, limit: Int64, on connection: inout Connection
    ) throws -> [PurchaseKey] {
        try connection.query(
            """
            SELECT environment, transaction_id FROM reconciliation.run_lines
            WHERE app = $1 AND day = $2::text::date AND (environment, transaction_id) > ($3, $4)
            ORDER BY environment, transaction_id LIMIT $5
            """,
            [
                .text(plan.app), .text(plan.day), .text(after?.environment.rawValue ?? ""),
                .text(after?.transactionID.rawValue ?? ""), .int8(limit),
            ]
        ).compactMap { row in
            try StoreEnvironment(rawValue: row.text("environment")).map {
                PurchaseKey(environment: $0, transactionID: TransactionID(try row.text("transaction_id")))
            }
        }
    }

    /// A purchase that was compared.
    struct Line {
        let key: PurchaseKey
        let comparison: PurchaseComparison
        let differences: [FindingKind]

        /// What became of its money: nothing taken back, a part, all; or Apple says more than Granting knows.
        var refundStatus: String {
            if differences.contains(.refundMissed) { return "MISSED" }
            switch comparison.state.details?.revokedShare ?? comparison.evidence?.revokedShare ?? 0 {
            case 0: return "NONE"
            case VerifiedTransaction.wholeShare: return "REFUNDED"
            default: return "PARTIAL"
            }
        }
    }

    /// Writes down what the books say. Where Granting knows a purchase it knows all of it.
    static func save(_ lines: [Line], of plan: DayPlan, in transaction: inout Transaction) throws {
        let details = lines.map(\.comparison.state.details)
        _ = try transaction.query(
            update,
            [
                .text(plan.app), .text(plan.day), .textArray(lines.map(\.key.environment.rawValue)),
                .textArray(lines.map(\.key.transactionID.rawValue)), .textArray(details.map { $0?.customer?.rawValue }),
                .textArray(details.map { $0?.productID.rawValue }), .int8Array(details.map { $0?.quantity }),
                .int8Array(details.map { $0?.purchaseDate }), .int8Array(details.map { $0?.price }),
                .textArray(details.map { $0?.currency }), .textArray(details.map { $0?.storefront }),
                .textArray(details.map { $0?.orderNumber?.rawValue }),
                .textArray(details.map { $0?.orderStatus?.rawValue }),
                .textArray(lines.map { $0.comparison.state.outcome.rawValue.uppercased() }),
                .textArray(lines.map(\.refundStatus)), .int8Array(details.map { $0?.grantedAt }),
                .int8Array(details.map { $0?.refundedAt }), .int8Array(details.map { $0?.refundProcessedAt }),
                .textArray(details.map { $0.map { text($0.amounts) } }),
                .textArray(details.map { $0.map { text($0.ledger) } }),
                .textArray(lines.map { $0.differences.map(\.rawValue).joined(separator: " ") }),
            ])
    }

    /// `60 COINS + 30 MINUTES`.
    static func text(_ amounts: [AssetAmount]) -> String {
        amounts.map { "\($0.amount) \($0.asset)" }.joined(separator: " + ")
    }

    private static let update = """
        UPDATE reconciliation.run_lines l SET customer = n.customer, product_id = coalesce(n.product_id, l.product_id),
            quantity = coalesce(n.quantity, l.quantity), purchase_date = coalesce(n.purchase_date, l.purchase_date),
            price = coalesce(n.price, l.price), currency = coalesce(n.currency, l.currency),
            storefront = coalesce(n.storefront, l.storefront), order_number = coalesce(n.order_number, l.order_number),
            order_status = n.order_status, grant_status = n.grant_status, refund_status = n.refund_status,
            granted_at = n.granted_at, refunded_at = n.refunded_at, refund_told_at = n.refund_told_at,
            amounts = n.amounts, ledger = n.ledger, differences = n.differences
        FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::text[],
            $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[], $17::bigint[], $18::bigint[],
            $19::text[], $20::text[], $21::text[]) AS n(environment, transaction_id, customer, product_id, quantity,
            purchase_date, price, currency, storefront, order_number, order_status, grant_status, refund_status,
            granted_at, refunded_at, refund_told_at, amounts, ledger, differences)
        WHERE l.app = $1 AND l.day = $2::text::date AND l.environment = n.environment
            AND l.transaction_id = n.transaction_id
        """
}
