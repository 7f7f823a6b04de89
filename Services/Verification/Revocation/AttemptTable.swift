import AppStore
import Crypto
import Messages
import Pipeline
import Postgres

/// The columns of `verification.chains` that only whoever asks needs: who carries the check, and what became of the last
/// attempt.
enum AttemptTable {
    /// Who tried last, and when (ms since 1970).
    struct Attempt: Equatable {
        var by: MessageID?
        var at: Int64 = 0
    }

    private static let select = """
        SELECT attempted_by, attempted_at FROM verification.chains WHERE chain = $1::bytea
        """
    private static let upsert = """
        INSERT INTO verification.chains AS c (chain, subject, serial_number, asked_at, attempted_at, attempted_by, attempt,
            check_again_at)
        VALUES ($1::bytea, $2::text, $3::text, CASE WHEN $5::uuid IS NULL THEN 0 ELSE $4::bigint END, $4::bigint,
            $5::uuid, $6::text, $7::bigint)
        ON CONFLICT (chain) DO UPDATE SET asked_at = EXCLUDED.asked_at, attempted_at = EXCLUDED.attempted_at, attempted_by = EXCLUDED.attempted_by, attempt = EXCLUDED.attempt,
            check_again_at = greatest(c.check_again_at, EXCLUDED.check_again_at)
        """

    /// The last attempt.
    static func last(on chain: SignerChain, in transaction: inout Transaction) throws -> Attempt {
        guard let row = try transaction.query(select, [.bytes(chain.id)]).first else { return Attempt() }
        return Attempt(
            by: try row.optionalUUID("attempted_by").map { MessageID(UUIDText.format($0)) },
            at: try row.int8("attempted_at"))
    }

    /// Notes an attempt.
    ///
    /// - Parameters:
    ///   - message: which goes on trying; nil if nobody does.
    ///   - checkAgainAt: when it is worth trying anew; 0 where the answer says it, or the retry ladder sees to it.
    static func note(
        _ outcome: String, on chain: SignerChain, by message: MessageID?, now: Int64, checkAgainAt: Int64 = 0,
        in transaction: inout Transaction
    ) {
        transaction.enqueue(
            upsert,
            [
                .bytes(chain.id), .text(chain.leaf.subject), .text(chain.leaf.serialNumber), .int8(now),
                .uuid(message.flatMap { UUIDText.parse($0.rawValue) }), .text(outcome), .int8(checkAgainAt),
            ])
    }
}
