import JOSE
import JSON
import Messages
import Pipeline
import Postgres

/// One notification, or one refusal, as far as Intake knows it.
struct NotificationReport {
    /// A telling of a notification: the fact, and who asked for it if it was not the first.
    struct Telling {
        let fact: String
        let type: String
        let message: String
        /// Ms since 1970.
        let at: Int64
        let actor: String?
        /// Not confirmed by the broker as far as is known: the sweep publishes it.
        let waits: Bool
    }

    /// A stored notification; the same UUID may stand in both environments.
    struct Stored {
        /// The members of a list.
        let object: JSONObject
        let message: String
        let correlationID: String
        /// Ms since 1970.
        let storedAt: Int64
        let lastReceivedAt: Int64
        let payload: [UInt8]
        let raw: String
        var tellings: [Telling]
    }

    /// A refused one, with what was kept of its text.
    struct Refused {
        let object: JSONObject
        let excerpt: String
    }

    let uuid: String
    var stored: [Stored] = []
    var refused: [Refused] = []

    /// Whether nothing has that UUID.
    var isEmpty: Bool { stored.isEmpty && refused.isEmpty }

    /// Reads what has the UUID.
    static func read(_ options: ShowOptions, on connection: inout Connection) throws -> NotificationReport {
        var report = NotificationReport(uuid: options.uuid)
        guard let uuid = UUIDText.parse(options.uuid) else { return report }
        let environments = options.environment.map { [$0] } ?? [.production, .sandbox]
        let rows = try connection.query(
            """
            SELECT \(NotificationPage.columns), n.message, n.correlation_id, n.stored_at, n.last_received_at,
                h.segment, n.payload, n.signature
            FROM intake.notifications n JOIN intake.headers h ON h.id = n.header
            WHERE n.environment = ANY($1::text[]) AND n.notification_uuid = $2::uuid ORDER BY n.environment
            """, [.textArray(environments.map(\.rawValue)), .uuid(uuid)])
        for row in rows { report.stored.append(try stored(row, on: &connection)) }
        guard report.stored.isEmpty, options.environment == nil else { return report }
        report.refused = try connection.query(
            "SELECT \(NotificationPage.refusalColumns), q.excerpt FROM intake.quarantine q WHERE q.message = $1::uuid",
            [.uuid(uuid)]
        ).map { Refused(object: try NotificationPage.refusal($0), excerpt: try $0.text("excerpt")) }
        return report
    }

    private static func stored(_ row: Row, on connection: inout Connection) throws -> Stored {
        let payload = try row.bytes("payload")
        let raw = CompactJWS.assemble(
            headerSegment: Array(try row.text("segment").utf8), payload: payload, signature: try row.bytes("signature"))
        let key = "\(try row.text("environment"))/\(UUIDText.format(try row.uuid("notification_uuid")))"
        // The first telling was caused by the message that stored it, the others by requests, of which there are few.
        let tellings = try connection.query(
            """
            SELECT f.id, f.type, f.cause, f.created_at, r.actor,
                EXISTS (SELECT FROM intake.unannounced u WHERE f.id = ANY(u.facts)) AS waits
            FROM intake.facts f LEFT JOIN intake.redrives r ON r.message = f.cause
            WHERE f.key = $1::text AND f.cause IN (
                SELECT $2::uuid UNION ALL SELECT message FROM intake.redrives WHERE NOT is_dry_run AND $3::boolean)
            ORDER BY f.revision
            """,
            [.text(key), .uuid(try row.uuid("message")), .bool(try row.int8("times_redriven") > 0)]
        ).map { row in
            Telling(
                fact: UUIDText.format(try row.uuid("id")), type: try row.text("type"),
                message: UUIDText.format(try row.uuid("cause")), at: try row.timestampMilliseconds("created_at"),
                actor: try row.optionalText("actor"), waits: try row.bool("waits"))
        }
        return Stored(
            object: try NotificationPage.object(row), message: UUIDText.format(try row.uuid("message")),
            correlationID: try row.text("correlation_id"), storedAt: try row.timestampMilliseconds("stored_at"),
            lastReceivedAt: try row.timestampMilliseconds("last_received_at"), payload: payload,
            raw: String(decoding: raw, as: UTF8.self), tellings: tellings)
    }

    /// What a signed payload says: the outer one without the texts signed inside it, and each of those decoded.
    static func decoded(_ payload: [UInt8]) -> JSONObject {
        guard var outer = try? JSONReader.parseObject(payload) else { return ["unreadable": true] }
        var inside: [(key: String, value: JSONValue)] = []
        for part in ["data", "appData"] {
            guard let data = outer[part]?.objectValue else { continue }
            var rest = JSONObject()
            for (key, value) in data.members {
                if key.hasPrefix("signed"), let text = value.stringValue {
                    inside.append((key: key, value: .object(decoded(jws: text))))
                } else {
                    rest.set(key, value)
                }
            }
            outer.set(part, .object(rest))
        }
        return JSONObject([(key: "notification", value: .object(outer))] + inside)
    }

    private static func decoded(jws text: String) -> JSONObject {
        guard let jws = try? CompactJWS(Array(text.utf8)), let payload = try? jws.decodePayload(),
            let object = try? JSONReader.parseObject(payload)
        else { return ["unreadable": true] }
        return object
    }
}
