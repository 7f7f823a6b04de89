import JSON
import Messages
import Pipeline
import Postgres

/// A page of what Apple told, or of what was refused, the newest first.
struct NotificationPage {
    /// The columns of a table of text; JSON has these and more.
    let header: [String]
    let rows: [[String?]]
    /// Members of JSON, a row each.
    let objects: [JSONObject]
    /// The word for a row.
    let noun: String
    /// Where the next page begins; nil: this was the last.
    let next: Int64?

    /// Reads the page that is asked for.
    static func read(_ options: ListOptions, on connection: inout Connection) throws -> NotificationPage {
        switch options.state {
        case .stored: try stored(options, on: &connection)
        case .quarantined: try quarantined(options, on: &connection)
        }
    }

    /// One line a row, and how to go on.
    var lines: [String] {
        let more = next.map { "; the next page: --before \($0)" } ?? ""
        return TextTable.lines(header, rows) + ["\(rows.count) \(noun)\(more)"]
    }

    /// One object; members are only ever added.
    var json: String {
        let object: JSONObject = [
            noun: .array(objects.map { .object($0) }), "next": next.map { .integer($0) } ?? .null,
        ]
        return String(decoding: JSONWriter.write(object), as: UTF8.self)
    }

    // MARK: - What is stored

    private static func stored(_ options: ListOptions, on connection: inout Connection) throws -> NotificationPage {
        let environments = options.environment.map { [$0] } ?? [.production, .sandbox]
        let rows = try connection.query(
            options.transaction == nil ? byType : byTransaction,
            [
                .textArray(environments.map(\.rawValue)), .textArray(options.types.map { $0 }),
                .int8(options.before ?? .max), .text(options.app), .int8(options.since), .int8(options.until),
                // One more than a page tells whether there are more.
                .int8(Int64(options.limit) + 1),
            ] + (options.transaction.map { [.text($0)] } ?? []))
        let page = rows.prefix(options.limit)
        return NotificationPage(
            header: ["RECEIVED", "APP", "ENVIRONMENT", "TYPE", "TRANSACTION", "UUID", "TIMES", "AGAIN"],
            rows: try page.map { row in
                let subtype = try row.optionalText("subtype").map { "/\($0)" } ?? ""
                return [
                    try row.time("received_at"), try row.text("app"), try row.text("environment"),
                    try row.text("type") + subtype, try row.optionalText("transaction_id"),
                    UUIDText.format(try row.uuid("notification_uuid")), "\(try row.int8("times_received"))",
                    "\(try row.int8("times_redriven"))",
                ]
            }, objects: try page.map(object), noun: "notifications",
            next: rows.count > options.limit ? try page.last?.int8("sequence") : nil)
    }

    /// The members that tell of a notification, whatever else is read of it.
    static func object(_ row: Row) throws -> JSONObject {
        [
            "uuid": .string(UUIDText.format(try row.uuid("notification_uuid"))),
            "environment": .string(try row.text("environment")), "app": .string(try row.text("app")),
            "type": .string(try row.text("type")), "subtype": .text(try row.optionalText("subtype")),
            "isKnown": .bool(try row.bool("is_known")),
            "transactionId": .text(try row.optionalText("transaction_id")),
            "originalTransactionId": .text(try row.optionalText("original_transaction_id")),
            "productId": .text(try row.optionalText("product_id")),
            "signedDate": .integer(try row.int8("signed_date")),
            "receivedAt": .integer(try row.timestampMilliseconds("received_at")),
            "timesReceived": .integer(try row.int8("times_received")),
            "timesRedriven": .integer(try row.int8("times_redriven")),
            "sequence": .integer(try row.int8("sequence")),
        ]
    }

    static let columns = """
        n.sequence, n.environment, n.notification_uuid, n.app, n.type, n.subtype, n.is_known, n.transaction_id,
        n.original_transaction_id, n.product_id, n.signed_date, n.received_at, n.times_received, n.times_redriven
        """

    private static let filter = """
        c.sequence < $3::bigint AND ($4::text IS NULL OR c.app = $4)
            AND ($5::bigint IS NULL OR c.received_at >= to_timestamp($5 / 1000.0))
            AND ($6::bigint IS NULL OR c.received_at < to_timestamp($6 / 1000.0))
        """

    /// By environment and type, each part a walk backwards along the index of types; without types, all that there are,
    /// found by leaps along the same index. A walk that finds less than a page goes on to its end.
    private static let byType = """
        SELECT \(columns) FROM unnest($1::text[]) AS e(environment)
        CROSS JOIN LATERAL (
            SELECT type FROM unnest($2::text[]) AS given(type)
            UNION ALL
            SELECT type FROM (
                WITH RECURSIVE leap(type) AS (
                    SELECT min(c.type) FROM intake.notifications c WHERE c.environment = e.environment
                    UNION ALL
                    SELECT (SELECT min(c.type) FROM intake.notifications c
                        WHERE c.environment = e.environment AND c.type > leap.type)
                    FROM leap WHERE leap.type IS NOT NULL)
                SELECT type FROM leap WHERE type IS NOT NULL AND cardinality($2::text[]) = 0) AS every) AS t
        CROSS JOIN LATERAL (
            SELECT * FROM intake.notifications c WHERE c.environment = e.environment AND c.type = t.type AND \(filter)
            ORDER BY c.sequence DESC LIMIT $7) AS n
        ORDER BY n.sequence DESC LIMIT $7
        """

    private static let byTransaction = """
        SELECT \(columns) FROM (
            SELECT * FROM intake.notifications c
            WHERE (c.transaction_id = $8::text OR c.original_transaction_id = $8::text) AND \(filter)
                AND c.environment = ANY($1::text[]) AND (cardinality($2::text[]) = 0 OR c.type = ANY($2::text[]))) AS n
        ORDER BY n.sequence DESC LIMIT $7
        """

    // MARK: - What was refused

    private static func quarantined(_ options: ListOptions, on connection: inout Connection) throws -> NotificationPage
    {
        let rows = try connection.query(
            """
            SELECT \(refusalColumns) FROM intake.quarantine q
            WHERE q.sequence < $1::bigint AND ($2::text IS NULL OR q.app = $2)
                AND ($3::bigint IS NULL OR q.refused_at >= to_timestamp($3 / 1000.0))
                AND ($4::bigint IS NULL OR q.refused_at < to_timestamp($4 / 1000.0))
            ORDER BY q.sequence DESC LIMIT $5
            """,
            [
                .int8(options.before ?? .max), .text(options.app), .int8(options.since), .int8(options.until),
                .int8(Int64(options.limit) + 1),
            ])
        let page = rows.prefix(options.limit)
        return NotificationPage(
            header: ["REFUSED", "APP", "REASON", "CHECK", "INSIDE", "MESSAGE", "CORRELATION"],
            rows: try page.map { row in
                [
                    try row.time("refused_at"), try row.text("app"), try row.text("reason"), try row.text("check"),
                    try row.optionalText("inside"), UUIDText.format(try row.uuid("message")),
                    try row.text("correlation_id"),
                ]
            }, objects: try page.map(refusal), noun: "refusals",
            next: rows.count > options.limit ? try page.last?.int8("sequence") : nil)
    }

    static let refusalColumns = """
        q.message, q.sequence, q.app, q.reason, q."check", q.inside, encode(q.evidence_hash, 'hex') AS hash,
        q.correlation_id, q.refused_at
        """

    /// The members that tell of a refusal.
    static func refusal(_ row: Row) throws -> JSONObject {
        [
            "message": .string(UUIDText.format(try row.uuid("message"))), "app": .string(try row.text("app")),
            "reason": .string(try row.text("reason")), "check": .string(try row.text("check")),
            "inside": .text(try row.optionalText("inside")), "sha256": .string(try row.text("hash")),
            "correlationId": .string(try row.text("correlation_id")),
            "refusedAt": .integer(try row.timestampMilliseconds("refused_at")),
            "sequence": .integer(try row.int8("sequence")),
        ]
    }
}

extension JSONValue {
    /// A text, or `null`.
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}

extension Row {
    /// A `timestamptz` column to the second, as `2026-11-30T12:00:00Z`.
    func time(_ column: String) throws -> String {
        TimeText.text(seconds: try timestampMilliseconds(column) / 1_000)
    }
}
