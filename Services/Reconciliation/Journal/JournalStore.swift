import Messages
import Pipeline
import Postgres

/// `reconciliation.journal` and `.journal_position`: facts and the place they were read up to, in one transaction.
struct JournalStore {
    /// Months whose partitions are known to be there.
    private var months: Set<Int64> = []

    /// Where reading goes on; nil: at the first message the stream has.
    static func position(in transaction: inout Transaction) throws -> Int64? {
        try transaction.query("SELECT next_offset FROM reconciliation.journal_position").single()
            .optionalInt8("next_offset")
    }

    /// Moves the position, and only from where this reader believes it to be: another one that took over meanwhile is
    /// never set back.
    static func move(from old: Int64?, to new: Int64?, in transaction: inout Transaction) throws {
        let moved = try transaction.query(
            """
            UPDATE reconciliation.journal_position SET next_offset = $2, updated_at = clock_timestamp()
            WHERE next_offset IS NOT DISTINCT FROM $1::bigint RETURNING 1 AS moved
            """, [.int8(old), .int8(new)])
        guard !moved.isEmpty else { throw JournalTakenOver() }
    }

    /// Stores what is not stored yet; returns the places of those entries.
    mutating func record(_ entries: [JournalEntry], in transaction: inout Transaction) throws -> Set<Int64> {
        guard !entries.isEmpty else { return [] }
        for time in Set(entries.map { Self.month($0.header.occurredAt) }).subtracting(months).sorted() {
            _ = try transaction.query("SELECT reconciliation.make_month($1) AS made", [.int8(time * Self.day)])
        }
        let rows = try transaction.query(Self.insert, Self.values(of: entries))
        return Set(try rows.map { try $0.int8("stream_offset") })
    }

    /// To be called after the commit that made the months of `entries`.
    mutating func remember(_ entries: [JournalEntry]) {
        months.formUnion(entries.map { Self.month($0.header.occurredAt) })
    }

    /// Drops months that are older than wanted, and makes those of now and of a month ahead, so that no batch has to.
    static func keepMonths(_ count: Int, now: Int64, in transaction: inout Transaction) throws -> Int64 {
        // 28 days lie in the next month or in this one; what is missing is made when it is needed.
        for time in [now, now + 28 * day] {
            _ = try transaction.query("SELECT reconciliation.make_month($1) AS made", [.int8(time)])
        }
        // 31 days for each month but the current one: at least as much as is wanted.
        let oldest = now - Int64(count - 1) * 31 * day
        return try transaction.query("SELECT reconciliation.drop_months($1) AS dropped", [.int8(oldest)]).single()
            .int8("dropped")
    }

    /// Of `keys` those that the stream shows granted: of these nobody need be asked.
    static func granted(_ keys: [PurchaseKey], in transaction: inout Transaction) throws -> Set<PurchaseKey> {
        guard !keys.isEmpty else { return [] }
        let rows = try transaction.query(
            """
            SELECT DISTINCT environment, transaction_id FROM reconciliation.journal
            WHERE transaction_id = ANY($1::text[]) AND type = 'purchase.granted'
                AND environment IN ('Production', 'Sandbox')
            """, [.textArray(Set(keys.map(\.transactionID.rawValue)).sorted())])
        return Set(
            try rows.compactMap { row in
                try StoreEnvironment(rawValue: row.text("environment")).map {
                    PurchaseKey(environment: $0, transactionID: TransactionID(try row.text("transaction_id")))
                }
            }
        ).intersection(keys)
    }

    /// A day in ms.
    private static let day: Int64 = 86_400_000

    /// Days stand for their month: a day that is known saves the look-up.
    private static func month(_ time: Int64) -> Int64 { time / day }

    private static let insert = """
        INSERT INTO reconciliation.journal (id, occurred_at, type, version, app, environment, transaction_id, order_number,
            customer, correlation_id, cause, stream_offset, body)
        SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::uuid[], $12::bigint[], $13::text[])
        ON CONFLICT (id, occurred_at) DO NOTHING RETURNING stream_offset
        """

    private static func values(of entries: [JournalEntry]) -> [SQLValue] {
        let headers = entries.map(\.header)
        return [
            .uuidArray(headers.map { UUIDText.parse($0.id.rawValue) }), .int8Array(headers.map(\.occurredAt)),
            .textArray(headers.map(\.type.rawValue)), .int8Array(headers.map { Int64($0.version) }),
            .textArray(headers.map { $0.app?.rawValue }), .textArray(headers.map { $0.environment?.rawValue }),
            .textArray(entries.map(\.transactionID)), .textArray(entries.map(\.orderNumber)),
            .textArray(entries.map(\.customer)), .textArray(headers.map(\.correlationID)),
            .uuidArray(headers.map { $0.causationID.flatMap { UUIDText.parse($0.rawValue) } }),
            .int8Array(entries.map(\.offset)), .textArray(entries.map { String(decoding: $0.body, as: UTF8.self) }),
        ]
    }
}

/// Another copy reads the stream now.
struct JournalTakenOver: Error {}
