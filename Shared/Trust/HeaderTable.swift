import Crypto
public import Postgres

/// The table `headers` of a schema: each distinct JWS header segment once. It holds three certificates, four of the five
/// kilobytes of signed data, and is the same for months.
public struct HeaderTable {
    /// Header segments whose row is known. Bounded by being cleared when full.
    private var known: [[UInt8]: Int64] = [:]
    private static let knownLimit = 256
    private let insert: String
    private let select: String

    /// The table of `schema`.
    public init(schema: String) {
        insert = """
            INSERT INTO \(schema).headers (digest, segment)
            SELECT * FROM unnest($1::bytea[], $2::text[]) ON CONFLICT (digest) DO NOTHING
            """
        select = """
            SELECT h.id, h.digest FROM unnest($1::bytea[]) AS wanted(digest)
            JOIN \(schema).headers h ON h.digest = wanted.digest
            """
    }

    /// The rows of header segments, in order, inserting those not seen before.
    ///
    /// Only what is found before anything is inserted is remembered: it is committed. A row inserted here may be rolled
    /// back, and another lane's row is looked up in a statement after the insert.
    public mutating func rows(of segments: [[UInt8]], in transaction: inout Transaction) throws -> [Int64?] {
        let digests = segments.map { SHA256.hash($0) }
        let wanted = Dictionary(zip(digests, segments)) { first, _ in first }
        var found = known.filter { wanted[$0.key] != nil }
        if found.count < wanted.count {
            let committed = try query(wanted.keys.filter { found[$0] == nil }, in: &transaction)
            if known.count + committed.count > Self.knownLimit { known = [:] }
            known.merge(committed) { $1 }
            found.merge(committed) { $1 }
        }
        let new = wanted.keys.filter { found[$0] == nil }.sorted { $0.lexicographicallyPrecedes($1) }
        if !new.isEmpty {
            transaction.enqueue(
                insert,
                [.bytesArray(new), .textArray(new.map { String(decoding: wanted[$0] ?? [], as: UTF8.self) })])
            found.merge(try query(new, in: &transaction)) { $1 }
        }
        return digests.map { found[$0] }
    }

    private func query(_ digests: [[UInt8]], in transaction: inout Transaction) throws -> [[UInt8]: Int64] {
        var found: [[UInt8]: Int64] = [:]
        for row in try transaction.query(select, [.bytesArray(digests)]) {
            found[try row.bytes("digest")] = try row.int8("id")
        }
        return found
    }
}
