import Messages
import Postgres
import ServerAPIAccess

/// `reconciliation.apple_histories` and `.apple_slices`: what of Apple's history is still to be read. An outage of days is
/// days of slices, caught up over passes, the newest first.
enum AppleSliceTable {
    /// A time of a place's history that is still to be read.
    struct Slice: Equatable {
        let id: Int64
        /// From here (ms since 1970).
        let start: Int64
        /// Up to here (ms since 1970).
        let end: Int64
        /// Where the next page begins; nil: at the beginning.
        let token: String?
    }

    /// Read again each time (ms): Apple does not say when a notification enters its history.
    static let overlap: Int64 = 3_600_000
    /// A slice at most (ms): what an expired token makes to be read again.
    static let longest: Int64 = 86_400_000

    /// Adds what has passed since the last time, up to `end`.
    ///
    /// - Parameters:
    ///   - first: where the history begins if it was never read.
    ///   - oldest: what lies before Apple tells no more.
    static func extend(
        _ place: ServerAPIClients.Place, from first: Int64, oldest: Int64, to end: Int64,
        in transaction: inout Transaction
    ) throws {
        let covered = try transaction.query(
            """
            SELECT covered_until FROM reconciliation.apple_histories
            WHERE app = $1 AND environment = $2 AND bundle_id = $3 FOR UPDATE
            """, key(place)
        ).first?.int8("covered_until")
        let start = max(oldest, covered.map { $0 - overlap } ?? first)
        guard end > (covered ?? first), end > start else { return }
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.apple_histories (app, environment, bundle_id, covered_until)
            VALUES ($1, $2, $3, $4) ON CONFLICT (app, environment, bundle_id) DO UPDATE SET covered_until = $4
            """, key(place) + [.int8(end)])
        let starts = Array(stride(from: start, to: end, by: Int64.Stride(longest)))
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.apple_slices (app, environment, bundle_id, starts_at, ends_at)
            SELECT $1, $2, $3, s, least(s + $5, $6) FROM unnest($4::bigint[]) AS given(s)
            """, key(place) + [.int8Array(starts), .int8(longest), .int8(end)])
    }

    /// What is read next.
    static func newest(_ place: ServerAPIClients.Place, in transaction: inout Transaction) throws -> Slice? {
        try transaction.query(
            """
            SELECT id, starts_at, ends_at, token FROM reconciliation.apple_slices
            WHERE app = $1 AND environment = $2 AND bundle_id = $3 ORDER BY ends_at DESC, id DESC LIMIT 1
            """, key(place)
        ).first.map {
            Slice(
                id: try $0.int8("id"), start: try $0.int8("starts_at"), end: try $0.int8("ends_at"),
                token: try $0.optionalText("token"))
        }
    }

    /// Since when the history may not have been compared (ms since 1970); nil: it was never looked at.
    static func comparedUntil(_ place: ServerAPIClients.Place, in transaction: inout Transaction) throws -> Int64? {
        try transaction.query(
            """
            SELECT coalesce((SELECT min(starts_at) FROM reconciliation.apple_slices
                WHERE app = $1 AND environment = $2 AND bundle_id = $3),
                (SELECT covered_until FROM reconciliation.apple_histories
                WHERE app = $1 AND environment = $2 AND bundle_id = $3)) AS compared
            """, key(place)
        ).first?.optionalInt8("compared")
    }

    /// The next page of a slice begins here; nil: the slice begins anew.
    static func move(_ slice: Slice, to token: String?, in transaction: inout Transaction) throws {
        _ = try transaction.query(
            "UPDATE reconciliation.apple_slices SET token = $2 WHERE id = $1",
            [.int8(slice.id), token.map { .text($0) } ?? .null])
    }

    /// Apple tells no more of what lies before `start`: the slice begins there, anew.
    static func cut(_ slice: Slice, to start: Int64, in transaction: inout Transaction) throws {
        guard start < slice.end else { return try end(slice, in: &transaction) }
        _ = try transaction.query(
            "UPDATE reconciliation.apple_slices SET starts_at = $2, token = NULL WHERE id = $1",
            [.int8(slice.id), .int8(start)])
    }

    /// A slice was read.
    static func end(_ slice: Slice, in transaction: inout Transaction) throws {
        _ = try transaction.query("DELETE FROM reconciliation.apple_slices WHERE id = $1", [.int8(slice.id)])
    }

    private static func key(_ place: ServerAPIClients.Place) -> [SQLValue] {
        [.text(place.app.rawValue), .text(place.environment.rawValue), .text(place.bundleID)]
    }
}
