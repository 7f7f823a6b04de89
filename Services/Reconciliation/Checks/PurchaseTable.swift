import Messages
import Postgres

/// `reconciliation.purchases`: what Apple signed about verified purchases.
enum PurchaseTable {
    /// Writes down what was said, in any order and as often as wanted: of a purchase the statement that Apple signed last
    /// stays, with the first time it was verified and the first order it was handed in for.
    static func record(_ entries: [EvidenceEntry], in transaction: inout Transaction) throws {
        let said = entries.compactMap { entry in entry.statement.map { (entry, $0) } }
        guard !said.isEmpty else { return }
        _ = try transaction.query(
            insert,
            [
                .textArray(said.map(\.0.environment.rawValue)), .textArray(said.map(\.0.transactionID.rawValue)),
                .textArray(said.map(\.0.app.rawValue)), .textArray(said.map(\.1.originalTransactionID.rawValue)),
                .textArray(said.map(\.1.appTransactionID)), .textArray(said.map { $0.0.orderNumber?.rawValue }),
                .boolArray(said.map(\.0.hasSubmitter)), .int8Array(said.map(\.0.verifiedAt)),
                .textArray(said.map(\.1.productID.rawValue)), .textArray(said.map(\.1.productType)),
                .textArray(said.map(\.1.ownership)), .int8Array(said.map(\.1.quantity)),
                .int8Array(said.map(\.1.purchaseDate)), .int8Array(said.map(\.1.signedDate)),
                .int8Array(said.map(\.1.revocationDate)), .int8Array(said.map(\.1.revokedShare)),
                .int8Array(said.map(\.1.price)), .textArray(said.map(\.1.currency)),
                .textArray(said.map(\.1.storefront)), .textArray(said.map(\.1.bundleID)),
            ])
    }

    /// Of one page, too, only the newest statement of a purchase may reach the table: a row can be written once a
    /// statement. A receipt tells no price, so what it leaves out stays as a transaction has told it.
    private static let insert = """
        INSERT INTO reconciliation.purchases AS p (environment, transaction_id, app, original_transaction_id,
            app_transaction_id, order_number, has_submitter, verified_at, product_id, product_type, ownership, quantity,
            purchase_date, signed_date, revocation_date, revoked_share, price, currency, storefront, bundle_id)
        SELECT DISTINCT ON (environment, transaction_id) environment, transaction_id, app, original_transaction_id,
            app_transaction_id, first_value(order_number) OVER (PARTITION BY environment, transaction_id
                ORDER BY order_number IS NULL, verified_at),
            bool_or(has_submitter) OVER purchase, min(verified_at) OVER purchase, product_id, product_type, ownership,
            quantity, purchase_date, signed_date, revocation_date, revoked_share, price, currency, storefront, bundle_id
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[],
            $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[],
            $16::bigint[], $17::bigint[], $18::text[], $19::text[], $20::text[])
            AS said(environment, transaction_id, app, original_transaction_id, app_transaction_id, order_number,
                has_submitter, verified_at, product_id, product_type, ownership, quantity, purchase_date, signed_date,
                revocation_date, revoked_share, price, currency, storefront, bundle_id)
        WINDOW purchase AS (PARTITION BY environment, transaction_id)
        ORDER BY environment, transaction_id, signed_date DESC, price IS NULL
        ON CONFLICT (environment, transaction_id) DO UPDATE SET
            order_number = coalesce(p.order_number, excluded.order_number),
            has_submitter = p.has_submitter OR excluded.has_submitter,
            verified_at = least(p.verified_at, excluded.verified_at),
            app_transaction_id = coalesce(p.app_transaction_id, excluded.app_transaction_id),
            product_type = CASE WHEN p.product_type = '' THEN excluded.product_type ELSE p.product_type END,
            price = coalesce(p.price, excluded.price), currency = coalesce(p.currency, excluded.currency),
            storefront = coalesce(p.storefront, excluded.storefront),
            bundle_id = coalesce(p.bundle_id, excluded.bundle_id),
            revocation_date = CASE WHEN excluded.signed_date >= p.signed_date THEN excluded.revocation_date
                ELSE p.revocation_date END,
            revoked_share = CASE WHEN excluded.signed_date >= p.signed_date THEN excluded.revoked_share
                ELSE p.revoked_share END,
            signed_date = greatest(p.signed_date, excluded.signed_date)
        """
}
