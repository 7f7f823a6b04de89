import AppStore
import LegacyReceipts
import Messages
import Pipeline
import Postgres

/// What a genuine receipt leaves behind: the container, and which purchases of it were handed in.
struct ReceiptEvidence {
    let receipt: VerifiedReceipt
    let transactions: [VerifiedTransaction]
    let app: AppID
    let submitter: UserID?
    let cause: MessageHeader
}

/// The receipts' tables. A constant number of statements a batch.
enum ReceiptStore {
    /// Writes everything with the next round trip of `transaction`.
    static func save(_ evidence: [ReceiptEvidence], in transaction: inout Transaction) {
        guard !evidence.isEmpty else { return }
        transaction.enqueue(
            insertReceipts,
            [
                .bytesArray(evidence.map(\.receipt.contentSHA256)),
                .textArray(evidence.map(\.receipt.environment.rawValue)), .textArray(evidence.map(\.app.rawValue)),
                .int8Array(evidence.map(\.receipt.receipt.creationDate)), .bytesArray(evidence.map(\.receipt.bytes)),
                .textArray(evidence.map { $0.submitter?.rawValue }),
                .uuidArray(evidence.map { UUIDText.parse($0.cause.id.rawValue) }),
                .textArray(evidence.map(\.cause.correlationID)),
            ])
        let purchases = evidence.flatMap { one in one.transactions.map { (one.receipt.contentSHA256, $0) } }
        transaction.enqueue(
            insertPurchases,
            [
                .bytesArray(purchases.map(\.0)), .textArray(purchases.map(\.1.environment.rawValue)),
                .textArray(purchases.map(\.1.transactionID.rawValue)),
            ])
    }

    private static let insertReceipts = """
        INSERT INTO verification.receipts (content_hash, environment, app, creation_date, container, submitter, message,
            correlation_id)
        SELECT DISTINCT ON (content_hash) content_hash, environment, app, creation_date, container, submitter, message,
            correlation_id
        FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::text[], $7::uuid[], $8::text[])
            WITH ORDINALITY AS given(content_hash, environment, app, creation_date, container, submitter, message,
                correlation_id, place)
        ORDER BY content_hash, place ON CONFLICT DO NOTHING
        """
    private static let insertPurchases = """
        INSERT INTO verification.receipt_purchases (content_hash, environment, transaction_id)
        SELECT DISTINCT content_hash, environment, transaction_id
        FROM unnest($1::bytea[], $2::text[], $3::text[]) AS given(content_hash, environment, transaction_id)
        ORDER BY environment, transaction_id, content_hash ON CONFLICT DO NOTHING
        """
}
