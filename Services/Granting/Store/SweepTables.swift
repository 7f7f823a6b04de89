import FoundationEssentials
import Messages
import Pipeline
import Postgres

/// `granting.sweeps`, and the sandbox grants that a sweep is about.
enum SweepTables {
    /// The end of the year 9999 (ms since 1970): PostgreSQL knows later instants, but not all of 64 bits.
    private static let lastInstant: Int64 = 253_402_300_799_000

    /// The next sandbox grants of an app that still give something, in the order of their transactions: an entitlement,
    /// or what is left in a wallet.
    static func page(_ request: SandboxSweepRequested, limit: Int64) -> Statement {
        Statement(
            """
            SELECT g.environment, g.transaction_id, g.customer FROM granting.grants g
            WHERE g.environment = 'Sandbox' AND g.transaction_id > $2 AND g.app = $1
                AND g.granted_at < to_timestamp($3::bigint / 1000.0)
                AND (g.swept_at IS NULL OR EXISTS (SELECT FROM granting.lots l
                    WHERE l.environment = g.environment AND l.transaction_id = g.transaction_id AND l.remaining > 0))
            ORDER BY g.transaction_id LIMIT $4
            """,
            [
                .text(request.app.rawValue), .text(request.after?.rawValue ?? ""),
                .int8(min(max(request.before, 0), lastInstant)), .int8(limit),
            ])
    }

    /// What a page that was delivered before was answered.
    static func answered(_ cause: MessageID) -> Statement {
        Statement("SELECT answer FROM granting.sweeps WHERE cause = ANY($1::uuid[])", [.uuids([cause])])
    }

    /// Grants that give nothing from now on.
    static func mark(_ keys: [TransactionKey]) -> Statement {
        Statement(
            """
            UPDATE granting.grants AS g SET swept_at = coalesce(g.swept_at, clock_timestamp())
            FROM unnest($1::text[], $2::text[]) AS n (environment, transaction_id)
            WHERE g.environment = n.environment AND g.transaction_id = n.transaction_id
            """, SQLValue.keys(keys))
    }

    /// Puts a page on record.
    static func record(_ request: SandboxSweepRequested, _ answer: SandboxSweepAnswered, cause: MessageID) -> Statement
    {
        let text = (try? MessageCoding.encode(answer)).map { String(decoding: $0, as: UTF8.self) }
        return Statement(
            """
            INSERT INTO granting.sweeps (cause, app, sweep, before, after_transaction, actor, answer)
            VALUES (($1::uuid[])[1], $2, ($3::uuid[])[1], $4, $5, $6, $7::text::json)
            """,
            [
                .uuids([cause]), .text(request.app.rawValue), .uuids([request.sweep]), .int8(request.before),
                .text(request.after?.rawValue), .text(request.actor), .text(text),
            ])
    }

    /// An answer's row.
    static func answer(_ row: Row) throws -> SandboxSweepAnswered {
        try MessageCoding.decode(SandboxSweepAnswered.self, from: Array(try row.json("answer").utf8))
    }
}
