import AppStore
import Crypto
import JOSE
import JSON
import Postgres

/// How much a chain had us accept since it was revoked: what an operator has to look at.
enum AcceptedSince {
    /// Statements looked at, at most; more are told as "at least".
    static let limit: Int64 = 200_000

    private static let headers = "SELECT id, segment FROM verification.headers"
    private static let count = """
        SELECT count(*) FILTER (WHERE header = ANY($1::bigint[])) AS accepted, count(*) AS seen
        FROM (SELECT header FROM verification.evidence WHERE signed_date >= $2::bigint LIMIT $3::bigint) AS since
        """

    /// Statements signed by `chain` at `time` (ms since 1970) or later that are evidence; whether there may be more.
    static func statements(
        of chain: SignerChain, since time: Int64, in transaction: inout Transaction
    ) throws -> (count: Int64, isMore: Bool) {
        var rows: [Int64] = []
        for row in try transaction.query(headers) where isSigned(try row.text("segment"), by: chain) {
            rows.append(try row.int8("id"))
        }
        guard !rows.isEmpty else { return (0, false) }
        let found = try transaction.query(
            count, [.int8Array(rows.map { $0 }), .int8(time), .int8(limit)]
        ).single()
        return (try found.int8("accepted"), try found.int8("seen") >= limit)
    }

    private static func isSigned(_ segment: String, by chain: SignerChain) -> Bool {
        guard let bytes = Base64URL.decode(segment), let header = try? JSONReader.parseObject(bytes),
            let texts = try? header.optionalStrings("x5c"), texts.count >= 2
        else { return false }
        return Base64.decode(texts[0]) == chain.leaf.der && Base64.decode(texts[1]) == chain.intermediate.der
    }
}
