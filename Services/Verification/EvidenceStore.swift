import Messages
import Pipeline
import Postgres
import Trust

/// What a genuine transaction leaves behind: enough to rebuild the exact JWS, and who handed it in first.
struct Evidence {
    let transaction: VerifiedTransaction
    let app: AppID
    let headerSegment: [UInt8]
    let payload: [UInt8]
    let payloadHash: [UInt8]
    let signature: [UInt8]
    let submitter: UserID?
    let orderNumber: OrderNumber?
    let cause: MessageHeader
}

/// What a refused submission leaves behind.
struct Refusal {
    let app: AppID
    let submitter: UserID?
    let reason: String
    let evidenceHash: [UInt8]
    /// The beginning of what was refused, for support; capped.
    let excerpt: String
    let cause: MessageHeader
}

/// The tables of Verification. Everything is set-based: a constant number of statements a batch.
struct EvidenceStore {
    /// Refusals kept at most; the oldest go first. 100,000 × 8 KiB bounds what strangers can make us store.
    static let defaultQuarantineLimit: Int64 = 100_000

    private let quarantineLimit: Int64
    private var headers = HeaderTable(schema: VerificationProgram.name)

    /// - Parameter quarantineLimit: refusals kept at most.
    init(quarantineLimit: Int64 = Self.defaultQuarantineLimit) { self.quarantineLimit = quarantineLimit }

    /// Writes everything with the next round trip of `transaction`.
    mutating func save(
        _ evidence: [Evidence], _ refusals: [Refusal], in transaction: inout Transaction
    ) throws {
        if !evidence.isEmpty {
            let headers = try headers.rows(of: evidence.map(\.headerSegment), in: &transaction)
            transaction.enqueue(Self.insertEvidence, try Self.values(of: evidence, headers))
        }
        if !refusals.isEmpty {
            transaction.enqueue(Self.insertRefusals, Self.values(of: refusals))
            transaction.enqueue(Self.capQuarantine, [.int8(quarantineLimit)])
        }
    }

    private static let insertEvidence = """
        INSERT INTO verification.evidence (environment, transaction_id, signed_date, payload_hash, app, header, payload,
            signature, submitter, order_number, message, correlation_id)
        SELECT DISTINCT ON (environment, transaction_id, signed_date, payload_hash) environment, transaction_id,
            signed_date, payload_hash, app, header, payload, signature, submitter, order_number, message, correlation_id
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::text[], $6::bigint[], $7::bytea[],
            $8::bytea[], $9::text[], $10::text[], $11::uuid[], $12::text[]) WITH ORDINALITY
            AS given(environment, transaction_id, signed_date, payload_hash, app, header, payload, signature,
                submitter, order_number, message, correlation_id, place)
        ORDER BY environment, transaction_id, signed_date, payload_hash, place
        ON CONFLICT DO NOTHING
        """
    private static let insertRefusals = """
        INSERT INTO verification.quarantine (message, app, submitter, reason, evidence_hash, excerpt, correlation_id)
        SELECT DISTINCT ON (message) *
        FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[])
            AS given(message, app, submitter, reason, evidence_hash, excerpt, correlation_id)
        ORDER BY message ON CONFLICT DO NOTHING
        """
    private static let capQuarantine = """
        DELETE FROM verification.quarantine
        WHERE sequence <= (SELECT max(sequence) FROM verification.quarantine) - $1::bigint
        """

    private static func values(of evidence: [Evidence], _ headers: [Int64?]) throws -> [SQLValue] {
        [
            .textArray(evidence.map(\.transaction.environment.rawValue)),
            .textArray(evidence.map(\.transaction.transactionID.rawValue)),
            .int8Array(evidence.map(\.transaction.signedDate)), .bytesArray(evidence.map(\.payloadHash)),
            .textArray(evidence.map(\.app.rawValue)), .int8Array(headers),
            .bytesArray(evidence.map(\.payload)), .bytesArray(evidence.map(\.signature)),
            .textArray(evidence.map { $0.submitter?.rawValue }), .textArray(evidence.map { $0.orderNumber?.rawValue }),
            .uuidArray(evidence.map { UUIDText.parse($0.cause.id.rawValue) }),
            .textArray(evidence.map(\.cause.correlationID)),
        ]
    }

    private static func values(of refusals: [Refusal]) -> [SQLValue] {
        [
            .uuidArray(refusals.map { UUIDText.parse($0.cause.id.rawValue) }), .textArray(refusals.map(\.app.rawValue)),
            .textArray(refusals.map { $0.submitter?.rawValue }), .textArray(refusals.map(\.reason)),
            .bytesArray(refusals.map(\.evidenceHash)), .textArray(refusals.map(\.excerpt)),
            .textArray(refusals.map(\.cause.correlationID)),
        ]
    }
}
