import Messages
import Postgres

/// The two tables by which a service tells what became true: `facts` (append-only) and `unannounced` (one row a batch
/// whose facts may not have been published yet).
struct FactStore {
    private let insert: String
    private let recall: String
    private let recallByID: String
    private let announce: String
    private let retire: String
    private let stale: String

    /// The tables of `schema`.
    init(schema: String) {
        let columns = "id, cause, key, revision, type, version, app, environment, correlation_id, occurred_at, body"
        insert = """
            INSERT INTO \(schema).facts (\(columns))
            SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[],
                $8::text[], $9::text[], $10::bigint[], $11::text[])
            ON CONFLICT (id) DO NOTHING RETURNING id
            """
        // Read as bigint whatever integer type the schema chose.
        let read = columns.replacing("version", with: "version::bigint AS version")
        recall = "SELECT \(read) FROM \(schema).facts WHERE cause = ANY($1::uuid[]) ORDER BY sequence"
        recallByID = "SELECT \(read) FROM \(schema).facts WHERE id = ANY($1::uuid[]) ORDER BY sequence"
        announce = "INSERT INTO \(schema).unannounced (facts) VALUES ($1::uuid[]) RETURNING id"
        retire = "DELETE FROM \(schema).unannounced WHERE id = ANY($1::bigint[])"
        stale = """
            SELECT id, facts, (extract(epoch FROM clock_timestamp() - created_at) * 1000)::bigint AS age
            FROM \(schema).unannounced
            WHERE created_at < clock_timestamp() - make_interval(secs => $1::bigint) ORDER BY id LIMIT 100
            """
    }

    /// What a transaction left to be published.
    struct Saved {
        /// Facts by the message that caused them: the new ones, and those an earlier delivery had stored.
        var facts: [MessageID: [Fact]] = [:]
        /// The row to retire once everything is published; nil if nothing new was stored.
        var unannounced: Int64?
    }

    /// What the end of a transaction writes, and what its rows then mean.
    struct Saving {
        /// To be sent last, or with COMMIT.
        fileprivate(set) var statements: [Statement] = []
        fileprivate let facts: [Fact]
        fileprivate let recalls: Bool
    }

    /// Stores new facts, recalls those of messages that have been here before, and retires what is published.
    ///
    /// - Parameter recalling: messages that may have left facts earlier (redelivered, or without new facts).
    func saving(_ facts: [Fact], recalling causes: [MessageID], retiring published: [Int64]) -> Saving {
        var saving = Saving(facts: facts, recalls: !causes.isEmpty)
        if !facts.isEmpty {
            saving.statements.append(Statement(insert, Self.values(of: facts)))
            saving.statements.append(Statement(announce, [Self.uuids(facts.map(\.id))]))
        }
        if !published.isEmpty {
            saving.statements.append(Statement(retire, [.int8Array(published.map { $0 })]))
        }
        if !causes.isEmpty { saving.statements.append(Statement(recall, [Self.uuids(causes)])) }
        return saving
    }

    /// Reads the rows of a saving.
    ///
    /// - Parameter query: asks once more, for the stored copies of facts that were there already: they were decided
    ///   before, and what is published is what is stored. Facts never change, so this may come after the commit.
    func saved(
        _ saving: Saving, _ rows: [Rows], query: (Statement) throws(PostgresError) -> Rows
    ) throws -> Saved {
        var saved = Saved()
        for fact in saving.facts { saved.facts[fact.cause, default: []].append(fact) }
        if !saving.facts.isEmpty {
            saved.unannounced = try rows[1].first?.int8("id")
            if rows[0].count < saving.facts.count {
                saved.facts = [:]
                let stored = try query(Statement(recallByID, [Self.uuids(saving.facts.map(\.id))]))
                try merge(stored, into: &saved)
            }
        }
        if saving.recalls, let recalled = rows.last { try merge(recalled, into: &saved) }
        return saved
    }

    /// The same inside a transaction that stays open.
    func save(
        _ facts: [Fact], recalling causes: [MessageID], retiring published: [Int64], in transaction: inout Transaction
    ) throws -> Saved {
        let saving = saving(facts, recalling: causes, retiring: published)
        let rows = try transaction.pipeline(saving.statements)
        return try saved(saving, rows) { statement throws(PostgresError) in
            try transaction.query(statement.sql, statement.values)
        }
    }

    /// Retires rows outside of any batch.
    func retire(_ published: [Int64], in transaction: inout Transaction) throws {
        _ = try transaction.query(retire, [.int8Array(published.map { $0 })])
    }

    /// Batches that nobody seems to have announced.
    struct Stale {
        /// The rows, and how old they are (ms).
        var ages: [Int64: Int64] = [:]
        /// Their facts.
        var facts: [Fact] = []
    }

    /// Batches that stayed unannounced for `seconds`, but for those in `published`.
    func staleBatches(
        afterSeconds seconds: Int64, except published: [Int64], in transaction: inout Transaction
    ) throws -> Stale {
        let rows = try transaction.query(stale, [.int8(seconds)])
        var stale = Stale()
        var wanted: [[UInt8]?] = []
        for row in rows {
            let id = try row.int8("id")
            guard !published.contains(id) else { continue }
            stale.ages[id] = try row.int8("age")
            wanted += try row.uuidArray("facts")
        }
        guard !wanted.isEmpty else { return stale }
        stale.facts = try transaction.query(recallByID, [.uuidArray(wanted)]).map(Self.fact)
        return stale
    }

    private func merge(_ rows: Rows, into saved: inout Saved) throws {
        for row in rows {
            let fact = try Self.fact(row)
            let known = saved.facts[fact.cause, default: []]
            if !known.contains(where: { $0.id == fact.id }) { saved.facts[fact.cause] = known + [fact] }
        }
    }

    private static func uuids(_ identifiers: [MessageID]) -> SQLValue {
        .uuidArray(identifiers.map { UUIDText.parse($0.rawValue) })
    }

    private static func values(of facts: [Fact]) -> [SQLValue] {
        [
            uuids(facts.map(\.id)), uuids(facts.map(\.cause)), .textArray(facts.map(\.key)),
            .int8Array(facts.map(\.revision)), .textArray(facts.map(\.type.rawValue)),
            .int8Array(facts.map { Int64($0.version) }), .textArray(facts.map { $0.app?.rawValue }),
            .textArray(facts.map { $0.environment?.rawValue }), .textArray(facts.map(\.correlationID)),
            .int8Array(facts.map(\.occurredAt)), .textArray(facts.map { String(decoding: $0.body, as: UTF8.self) }),
        ]
    }

    private static func fact(_ row: Row) throws -> Fact {
        Fact(
            type: MessageType(rawValue: try row.text("type")), version: Int(clamping: try row.int8("version")),
            key: try row.text("key"), revision: try row.int8("revision"),
            app: try row.optionalText("app").map { AppID($0) },
            environment: try row.optionalText("environment").flatMap { StoreEnvironment(rawValue: $0) },
            cause: MessageID(UUIDText.format(try row.uuid("cause"))), correlationID: try row.text("correlation_id"),
            occurredAt: try row.int8("occurred_at"), body: Array(try row.text("body").utf8))
    }
}
