import Messages
import Postgres

/// What a user's entitlements are made of: delivered purchases of products that name one, and renewal infos.
enum EntitlementTables {
    /// A user's entitling purchases that were not swept, each with its subscription's renewal info, and the database's
    /// time. A period is told by the newest statement of all transactions that tell of it.
    static func read(_ question: EntitlementsRequested) -> Statement {
        Statement(
            """
            SELECT DISTINCT ON (g.environment, g.transaction_id)
                (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, p.entitlement, p.entitlement_days,
                g.applied_share, \(TransactionTable.selected), r.auto_renew_product_id, r.auto_renew_status,
                r.expiration_intent, r.is_in_billing_retry, r.grace_period_expires_date,
                r.signed_date AS renewal_signed_date, r.payload_hash AS renewal_hash
            FROM granting.customers c
            JOIN granting.transactions t ON t.owner = c.customer
            JOIN granting.grants g ON g.environment = t.environment AND g.transaction_id = t.delivered_by
            JOIN granting.product_versions p ON p.app = g.app AND p.product_id = g.product_id
                AND p.version = g.product_version AND p.entitlement IS NOT NULL
            LEFT JOIN granting.renewals r ON r.environment = t.environment
                AND r.original_transaction_id = t.original_transaction_id
            WHERE c.app = $1 AND c.user_id = $2 AND g.swept_at IS NULL
                AND (g.kind = 'period' OR t.transaction_id = g.transaction_id)
            ORDER BY g.environment, g.transaction_id, t.signed_date DESC, t.revoked_share DESC,
                t.payload_hash COLLATE "C" DESC
            """, [.text(question.app.rawValue), .text(question.userID.rawValue)])
    }

    /// The answer.
    static func answer(_ rows: Rows) throws -> EntitlementsAnswered {
        guard let now = try rows.first?.int8("now") else { return EntitlementsAnswered(entitlements: []) }
        let purchases = try rows.map { row in
            EntitlingPurchase(
                statement: try TransactionTable.purchase(row).statement, entitlement: try row.text("entitlement"),
                days: try row.optionalInt8("entitlement_days"), share: try row.int8("applied_share"))
        }
        return EntitlementsAnswered(
            entitlements: Entitlements.states(of: purchases, renewals: try rows.compactMap(renewal), at: now))
    }

    private static func renewal(_ row: Row) throws -> VerifiedRenewal? {
        guard let signed = try row.optionalInt8("renewal_signed_date") else { return nil }
        var renewal = VerifiedRenewal(
            environment: try row.book("environment"),
            originalTransactionID: TransactionID(try row.text("original_transaction_id")), signedDate: signed,
            payloadHash: try row.text("renewal_hash"))
        renewal.autoRenewProductID = try row.optionalName("auto_renew_product_id")
        renewal.autoRenewStatus = try row.optionalInt8("auto_renew_status")
        renewal.expirationIntent = try row.optionalInt8("expiration_intent")
        renewal.isInBillingRetryPeriod = try row.optionalBool("is_in_billing_retry")
        renewal.gracePeriodExpiresDate = try row.optionalInt8("grace_period_expires_date")
        return renewal
    }
}
