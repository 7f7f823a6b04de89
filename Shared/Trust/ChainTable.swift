import AppStore
import Crypto
public import Messages
public import Postgres

/// The table `chains` of a schema: what is known about each chain of certificates that signed anything for us. A few rows
/// for years; only whoever has Apple's keys could make more.
public struct ChainTable: Sendable {
    private let select: String
    private let claim: String
    private let insert: String

    /// The table of `schema`.
    public init(schema: String) {
        select = """
            SELECT chain, status, revoked_at, reason, answer_ends, check_again_at, asked_at, leaf_as_of, intermediate_as_of
            FROM \(schema).chains WHERE chain = ANY($1::bytea[])
            """
        claim = """
            INSERT INTO \(schema).chains AS c (chain, subject, serial_number, asked_at, expires_at)
            SELECT chain, subject, serial_number, $4::bigint, expires_at
            FROM unnest($1::bytea[], $2::text[], $3::text[], $6::bigint[])
                AS given(chain, subject, serial_number, expires_at) ORDER BY chain
            ON CONFLICT (chain) DO UPDATE SET asked_at = EXCLUDED.asked_at, expires_at = EXCLUDED.expires_at
                WHERE c.check_again_at <= EXCLUDED.asked_at AND c.asked_at <= EXCLUDED.asked_at - $5::bigint
            RETURNING chain
            """
        insert = """
            INSERT INTO \(schema).chains AS c (chain, subject, serial_number, asked_at, status, revoked_at, reason,
                leaf_as_of, intermediate_as_of, answer_ends, check_again_at)
            VALUES ($1::bytea, $2::text, $3::text, 0, $4::text, $5::bigint, $6::bigint, $7::bigint, $8::bigint,
                $9::bigint, $10::bigint)
            ON CONFLICT (chain) DO UPDATE SET asked_at = 0, status = EXCLUDED.status, revoked_at = EXCLUDED.revoked_at, reason = EXCLUDED.reason,
                leaf_as_of = EXCLUDED.leaf_as_of, intermediate_as_of = EXCLUDED.intermediate_as_of,
                answer_ends = EXCLUDED.answer_ends, check_again_at = EXCLUDED.check_again_at
                WHERE c.leaf_as_of <= EXCLUDED.leaf_as_of AND c.intermediate_as_of <= EXCLUDED.intermediate_as_of
            RETURNING chain
            """
    }

    /// What is known about the chains of these ids; those that nobody has seen are missing.
    public func states(of chains: [[UInt8]], in transaction: inout Transaction) throws -> [[UInt8]: ChainState] {
        var states: [[UInt8]: ChainState] = [:]
        for row in try transaction.query(select, [.bytesArray(chains)]) {
            var state = ChainState()
            switch try row.optionalText("status") {
            case "good": state.answer = .good
            case "revoked":
                let reason = try row.optionalInt8("reason").map { RevocationReason(rawValue: Int($0)) }
                state.answer = .revoked(at: try row.int8("revoked_at"), reason: reason)
            default: break
            }
            state.answerEnds = try row.int8("answer_ends")
            state.checkAgainAt = try row.int8("check_again_at")
            state.askedAt = try row.int8("asked_at")
            state.leafAsOf = try row.int8("leaf_as_of")
            state.intermediateAsOf = try row.int8("intermediate_as_of")
            states[try row.bytes("chain")] = state
        }
        return states
    }

    /// Takes it upon this transaction to ask about those of `chains` that are new or due: of all copies of a service that
    /// see one at the same time, one does.
    ///
    /// - Returns: the ids of those it has to ask about.
    func claim(_ chains: [SignerChain], now: Int64, in transaction: inout Transaction) throws -> Set<[UInt8]> {
        let rows = try transaction.query(
            claim,
            [
                .bytesArray(chains.map(\.id)), .textArray(chains.map(\.leaf.subject)),
                .textArray(chains.map(\.leaf.serialNumber)), .int8(now), .int8(ChainState.patience),
                .int8Array(chains.map(\.expiresAt)),
            ])
        return Set(try rows.map { try $0.bytes("chain") })
    }

    /// Keeps an answer, unless a newer one is there.
    ///
    /// - Returns: whether it was kept.
    @discardableResult
    public func record(
        _ checked: ChainChecked, id: [UInt8], in transaction: inout Transaction
    ) throws -> Bool {
        let rows = try transaction.query(
            insert,
            [
                .bytes(id), .text(checked.subject), .text(checked.serialNumber),
                .text(checked.revokedAt == nil ? "good" : "revoked"), .int8(checked.revokedAt), .int8(checked.reason),
                .int8(checked.leafAsOf), .int8(checked.intermediateAsOf), .int8(checked.answerEnds),
                .int8(checked.checkAgainAt),
            ])
        return !rows.isEmpty
    }
}
