import Crypto
import Messages
import Pipeline
import Postgres

/// `verification.erasures`, and the rows that name users.
enum ErasureTable {
    /// An erasure as far as it has come.
    struct Erasure: Sendable, Equatable {
        /// The app.
        let app: AppID
        /// Whom it is about; empty once it is done.
        let users: [String]
        /// When it was recorded (ms since 1970).
        let until: Int64
        /// Whether everything was looked through.
        let isDone: Bool
    }

    /// SHA-256 of app, a zero byte and user id.
    static func digest(_ user: UserID, of app: AppID) -> [UInt8] {
        SHA256.hash(Array(app.rawValue.utf8) + [0] + Array(user.rawValue.utf8))
    }

    /// Records an erasure, once.
    static func insert(
        _ users: [UserID], of app: AppID, message: MessageID, at now: Int64, in transaction: inout Transaction
    ) throws {
        _ = try transaction.query(
            """
            INSERT INTO verification.erasures (message, app, digests, user_ids, until)
            SELECT ($1::uuid[])[1], $2, $3::bytea[], $4::text[], $5 ON CONFLICT DO NOTHING
            """,
            [
                uuid(message), .text(app.rawValue), .bytesArray(users.map { digest($0, of: app) }),
                .textArray(users.map(\.rawValue)), .int8(now),
            ])
    }

    /// Reads an erasure and keeps it for this transaction.
    static func lock(_ message: MessageID, in transaction: inout Transaction) throws -> Erasure? {
        let rows = try transaction.query(
            """
            SELECT app, coalesce(user_ids, '{}') AS users, until, done_at IS NOT NULL AS done
            FROM verification.erasures WHERE message = ANY($1::uuid[]) FOR UPDATE
            """, [uuid(message)])
        return try rows.first.map {
            Erasure(
                app: AppID(try $0.text("app")), users: try $0.textArray("users").compactMap { $0 },
                until: try $0.int8("until"), isDone: try $0.bool("done"))
        }
    }

    /// The newest fact.
    static func lastFact(in transaction: inout Transaction) throws -> Int64 {
        try transaction.query("SELECT coalesce(max(sequence), 0) AS last FROM verification.facts", []).single()
            .int8("last")
    }

    /// Takes the users out of the facts after `after` up to `last`, and out of what these facts are about.
    static func erase(
        _ erasure: Erasure, of message: MessageID, after: Int64, upTo last: Int64, in transaction: inout Transaction
    ) throws {
        _ = try transaction.query(
            """
            WITH named AS (
                SELECT f.sequence, split_part(f.key, '/', 1) AS environment, split_part(f.key, '/', 2) AS transaction_id
                FROM verification.facts f
                WHERE f.sequence > $3 AND f.sequence <= $4 AND f.app = $1
                    AND f.type IN ('purchase.verified', 'receipt.check.requested')
                    AND f.body::json ->> 'userID' = ANY($2::text[])),
            told AS (
                UPDATE verification.facts f SET body = (f.body::jsonb - 'userID' - 'identities')::text
                FROM named n WHERE f.sequence = n.sequence RETURNING f.sequence),
            about AS (SELECT DISTINCT environment, transaction_id FROM named),
            proof AS (
                UPDATE verification.evidence e SET submitter = NULL FROM about n
                WHERE e.environment = n.environment AND e.transaction_id = n.transaction_id AND e.app = $1
                    AND e.submitter = ANY($2::text[]) RETURNING e.transaction_id),
            brought AS (
                UPDATE verification.receipts r SET submitter = NULL
                FROM (SELECT DISTINCT p.content_hash FROM about n JOIN verification.receipt_purchases p
                    ON p.environment = n.environment AND p.transaction_id = n.transaction_id) AS p
                WHERE r.content_hash = p.content_hash AND r.app = $1 AND r.submitter = ANY($2::text[])
                RETURNING r.content_hash)
            UPDATE verification.erasures x SET facts = x.facts + (SELECT count(*) FROM told),
                evidence = x.evidence + (SELECT count(*) FROM proof) + (SELECT count(*) FROM brought)
            WHERE x.message = ANY($5::uuid[])
            """,
            [
                .text(erasure.app.rawValue), .textArray(erasure.users), .int8(after), .int8(last), uuid(message),
            ])
    }

    /// Takes the users out of the quarantine, which is small, and ends the erasure.
    static func finish(_ erasure: Erasure, of message: MessageID, in transaction: inout Transaction) throws {
        _ = try transaction.query(
            """
            WITH refused AS (UPDATE verification.quarantine q SET submitter = NULL
                WHERE q.app = $1 AND q.submitter = ANY($2::text[]) RETURNING q.message)
            UPDATE verification.erasures x SET user_ids = NULL, done_at = clock_timestamp(),
                evidence = x.evidence + (SELECT count(*) FROM refused)
            WHERE x.message = ANY($3::uuid[])
            """, [.text(erasure.app.rawValue), .textArray(erasure.users), uuid(message)])
    }

    /// Digests of erased users and until when, of all erasures or of those of the last ten minutes.
    static func erased(recentOnly: Bool, in transaction: inout Transaction) throws -> [(digest: [UInt8], until: Int64)]
    {
        let recent = " WHERE recorded_at > clock_timestamp() - interval '10 minutes'"
        let rows = try transaction.query(
            "SELECT unnest(digests) AS digest, until FROM verification.erasures" + (recentOnly ? recent : ""), [])
        return try rows.map { (try $0.bytes("digest"), try $0.int8("until")) }
    }

    private static func uuid(_ message: MessageID) -> SQLValue { .uuidArray([UUIDText.parse(message.rawValue)]) }
}
