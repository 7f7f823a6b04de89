import Messages
import Postgres

/// `reconciliation.waiting`: verified purchases that are held or nobody's, to be looked at again.
enum WaitingTable {
    /// Adds purchases; those that are there stay as they are.
    static func insert(_ entries: [EvidenceEntry], next: Int64, in transaction: inout Transaction) throws {
        guard !entries.isEmpty else { return }
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.waiting (environment, transaction_id, app, order_number, has_submitter,
                verified_at, next_at)
            SELECT *, $7 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::bigint[])
            ON CONFLICT DO NOTHING
            """,
            keys(entries) + [
                .textArray(entries.map(\.app.rawValue)), .textArray(entries.map { $0.orderNumber?.rawValue }),
                .boolArray(entries.map(\.hasSubmitter)), .int8Array(entries.map(\.verifiedAt)), .int8(next),
            ])
    }

    /// Purchases whose time has come, longest first.
    static func due(_ now: Int64, limit: Int64, in transaction: inout Transaction) throws -> [EvidenceEntry] {
        try transaction.query(
            """
            SELECT environment, transaction_id, app, order_number, has_submitter, verified_at
            FROM reconciliation.waiting WHERE next_at <= $1 ORDER BY next_at LIMIT $2
            """, [.int8(now), .int8(limit)]
        ).compactMap { row in
            guard let environment = StoreEnvironment(rawValue: try row.text("environment")) else { return nil }
            return EvidenceEntry(
                app: AppID(try row.text("app")), environment: environment,
                transactionID: TransactionID(try row.text("transaction_id")),
                orderNumber: try row.optionalText("order_number").map { OrderNumber($0) },
                hasSubmitter: try row.bool("has_submitter"), verifiedAt: try row.int8("verified_at"))
        }
    }

    /// To be looked at again at `next`.
    static func postpone(_ entries: [EvidenceEntry], to next: Int64, in transaction: inout Transaction) throws {
        guard !entries.isEmpty else { return }
        _ = try transaction.query(
            """
            UPDATE reconciliation.waiting w SET next_at = $3 FROM unnest($1::text[], $2::text[]) AS given(e, t)
            WHERE w.environment = given.e AND w.transaction_id = given.t
            """, keys(entries) + [.int8(next)])
    }

    /// Not to be looked at again.
    static func remove(_ entries: [EvidenceEntry], in transaction: inout Transaction) throws {
        guard !entries.isEmpty else { return }
        _ = try transaction.query(
            """
            DELETE FROM reconciliation.waiting w USING unnest($1::text[], $2::text[]) AS given(e, t)
            WHERE w.environment = given.e AND w.transaction_id = given.t
            """, keys(entries))
    }

    private static func keys(_ entries: [EvidenceEntry]) -> [SQLValue] {
        [.textArray(entries.map(\.environment.rawValue)), .textArray(entries.map(\.transactionID.rawValue))]
    }
}
