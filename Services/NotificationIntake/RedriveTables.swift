import AppStore
import Messages
import Pipeline
import Postgres

/// What a re-drive reads and writes.
enum RedriveTables {
    /// A stored notification.
    struct Stored {
        let uuid: String
        let signedDate: Int64
        let evidence: SignedEvidence
    }

    /// What a request asks for, up to its limit.
    struct Chosen {
        var stored: [Stored] = []
        var unknown: [String] = []
        /// Where the next page begins.
        var next: Int64?
    }

    /// The answer that a request got before, if it was here before. One request at a time: of two copies in two lanes
    /// the second waits here and finds what the first left.
    static func answer(
        to request: MessageID, in transaction: inout Transaction
    ) throws -> NotificationRedriveAnswered? {
        _ = try transaction.query("SELECT pg_advisory_xact_lock(hashtext('intake.redrives'))")
        let rows = try transaction.query(
            "SELECT answer FROM intake.redrives WHERE message = $1::uuid", [uuid(request)])
        return try rows.first.map {
            try MessageCoding.decode(NotificationRedriveAnswered.self, from: Array(try $0.text("answer").utf8))
        }
    }

    /// Records who asked for what and what was answered.
    static func record(
        _ request: NotificationRedriveRequested, _ answer: NotificationRedriveAnswered, _ header: MessageHeader,
        in transaction: inout Transaction
    ) throws {
        transaction.enqueue(
            """
            INSERT INTO intake.redrives (message, actor, request, is_dry_run, answer)
            VALUES ($1::uuid, $2::text, $3::text, $4::boolean, $5::text)
            """,
            [
                uuid(header.id), .text(request.actor),
                .text(String(decoding: try MessageCoding.encode(request), as: UTF8.self)), .bool(request.isDryRun),
                .text(String(decoding: try MessageCoding.encode(answer), as: UTF8.self)),
            ])
    }

    /// The notifications a request asks for, the oldest first.
    static func choose(
        _ request: NotificationRedriveRequested, limit: Int64, in transaction: inout Transaction
    ) throws -> Chosen {
        let environments = request.environment.map { [$0] } ?? [.production, .sandbox]
        if !request.notificationUUIDs.isEmpty {
            return try byUUID(request.notificationUUIDs, environments, in: &transaction)
        }
        let types =
            request.notificationTypes.isEmpty
            ? AppleNotificationType.allCases.map(\.rawValue) : request.notificationTypes
        // One more than a page tells whether there are more.
        let rows = try transaction.query(
            page(unknownOnly: request.notificationTypes.isEmpty),
            [
                .textArray(environments.map(\.rawValue)), .textArray(types), .int8(request.after ?? 0),
                .int8(limit + 1),
            ])
        var chosen = Chosen()
        for row in rows.prefix(Int(limit)) {
            chosen.stored.append(try stored(row))
            if rows.count > Int(limit) { chosen.next = try row.int8("sequence") }
        }
        return chosen
    }

    /// Counts one more telling of each; what is returned numbers it, by the key of its facts.
    static func countRedriven(
        _ told: [GenuineNotification], in transaction: inout Transaction
    ) throws -> [String: Int64] {
        guard !told.isEmpty else { return [:] }
        let sorted = told.sorted { $0.factKey < $1.factKey }
        let rows = try transaction.query(
            """
            UPDATE intake.notifications n SET times_redriven = n.times_redriven + 1
            FROM (SELECT given.environment, given.notification_uuid
                FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS given(environment, notification_uuid, place)
                JOIN intake.notifications l USING (environment, notification_uuid) ORDER BY place FOR UPDATE OF l) g
            WHERE n.environment = g.environment AND n.notification_uuid = g.notification_uuid
            RETURNING n.environment, n.notification_uuid, n.times_redriven
            """, [.textArray(sorted.map(\.environment.rawValue)), .uuidArray(sorted.map(\.uuid))])
        var revisions: [String: Int64] = [:]
        for row in rows {
            let key = "\(try row.text("environment"))/\(UUIDText.format(try row.uuid("notification_uuid")))"
            revisions[key] = try row.int8("times_redriven")
        }
        return revisions
    }

    private static let columns = """
        n.sequence, n.notification_uuid, n.signed_date, h.segment, n.payload, n.signature
        """

    /// By environment and type, so that each part is a walk along an index however rare a type is.
    private static func page(unknownOnly: Bool) -> String {
        """
        SELECT \(columns) FROM (
            SELECT p.* FROM unnest($1::text[]) AS e(environment) CROSS JOIN unnest($2::text[]) AS t(type)
            CROSS JOIN LATERAL (
                SELECT * FROM intake.notifications c WHERE c.environment = e.environment AND c.type = t.type
                    AND c.sequence > $3::bigint \(unknownOnly ? "AND NOT c.is_known" : "")
                ORDER BY c.environment, c.type, c.sequence LIMIT $4::bigint) p
            ORDER BY p.sequence LIMIT $4::bigint) n
        JOIN intake.headers h ON h.id = n.header ORDER BY n.sequence
        """
    }

    private static func byUUID(
        _ texts: [String], _ environments: [StoreEnvironment], in transaction: inout Transaction
    ) throws -> Chosen {
        let wanted = Set(texts.compactMap { UUIDText.parse($0) }).sorted { $0.lexicographicallyPrecedes($1) }
        let rows = try transaction.query(
            """
            SELECT \(columns) FROM unnest($1::text[]) AS e(environment) CROSS JOIN unnest($2::uuid[]) AS w(uuid)
            JOIN intake.notifications n ON n.environment = e.environment AND n.notification_uuid = w.uuid
            JOIN intake.headers h ON h.id = n.header ORDER BY n.sequence
            """, [.textArray(environments.map(\.rawValue)), .uuidArray(wanted)])
        var chosen = Chosen()
        chosen.stored = try rows.map(stored)
        let found = Set(chosen.stored.map(\.uuid))
        chosen.unknown = texts.filter { UUIDText.parse($0).map { !found.contains(UUIDText.format($0)) } ?? true }
        return chosen
    }

    private static func stored(_ row: Row) throws -> Stored {
        Stored(
            uuid: UUIDText.format(try row.uuid("notification_uuid")), signedDate: try row.int8("signed_date"),
            evidence: SignedEvidence(
                headerSegment: Array(try row.text("segment").utf8), payload: try row.bytes("payload"),
                signature: try row.bytes("signature")))
    }

    private static func uuid(_ id: MessageID) -> SQLValue { UUIDText.parse(id.rawValue).map { .uuid($0) } ?? .null }
}
