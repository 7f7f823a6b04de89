import Messages
import Postgres

/// What there is on record here about purchases that are compared: `reconciliation.purchases` and the stream.
enum ComparedTable {
    /// What was verified of these purchases, and which of them the stream shows granted on Verification's word before
    /// `before` (ms since 1970).
    static func read(
        _ keys: [PurchaseKey], before: Int64, in transaction: inout Transaction
    ) throws -> [PurchaseKey: (evidence: PurchaseComparison.Evidence?, isGrantedAsVerified: Bool)] {
        guard !keys.isEmpty else { return [:] }
        let rows = try transaction.query(
            """
            SELECT k.environment, k.transaction_id, p.app, p.order_number, p.has_submitter, p.verified_at, p.signed_date,
                p.revocation_date, p.revoked_share,
                p.transaction_id IS NULL AND EXISTS (SELECT FROM reconciliation.journal j
                    WHERE j.transaction_id = k.transaction_id AND j.environment = k.environment
                        AND j.type = 'purchase.granted' AND j.occurred_at < $3
                        AND (j.body::jsonb ->> 'isVerified')::boolean) AS is_said
            FROM unnest($1::text[], $2::text[]) AS k(environment, transaction_id)
            LEFT JOIN reconciliation.purchases p ON p.environment = k.environment
                AND p.transaction_id = k.transaction_id
            """,
            [
                .textArray(keys.map(\.environment.rawValue)), .textArray(keys.map(\.transactionID.rawValue)),
                .int8(before),
            ])
        return Dictionary(
            try rows.compactMap { row in
                guard let environment = StoreEnvironment(rawValue: try row.text("environment")) else { return nil }
                let key = PurchaseKey(
                    environment: environment, transactionID: TransactionID(try row.text("transaction_id")))
                return (key, (try evidence(row), try row.bool("is_said")))
            }, uniquingKeysWith: { first, _ in first })
    }

    private static func evidence(_ row: Row) throws -> PurchaseComparison.Evidence? {
        guard let app = try row.optionalText("app") else { return nil }
        return PurchaseComparison.Evidence(
            app: AppID(app), orderNumber: try row.optionalText("order_number").map { OrderNumber($0) },
            hasSubmitter: try row.bool("has_submitter"), verifiedAt: try row.int8("verified_at"),
            signedDate: try row.int8("signed_date"), revocationDate: try row.optionalInt8("revocation_date"),
            revokedShare: try row.int8("revoked_share"))
    }
}
