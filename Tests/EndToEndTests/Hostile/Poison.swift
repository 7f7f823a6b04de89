import AMQP
import Messages

/// One way of spoiling a message.
struct Poison: Sendable {
    let name: String
    /// The beginning of the reason it must be parked with; nil if it has to be handled all the same.
    let reason: String?
    let apply: @Sendable (inout OutgoingMessage) -> Void

    /// Properties and headers: what no service of ours would set, on any queue.
    static let properties: [Poison] = [
        Poison(name: "no id", reason: "message.id_missing") { $0.properties.messageID = nil },
        Poison(name: "an id that is no UUID", reason: "message.id_missing") {
            $0.properties.messageID = "1; DROP TABLE"
        },
        Poison(name: "an id of 255 bytes", reason: "message.id_missing") { $0.properties.messageID = text(255) },
        Poison(name: "no type", reason: "message.type_missing") { $0.properties.type = nil },
        Poison(name: "another queue's type", reason: "message.type_unexpected") {
            $0.properties.type = "catalog.imported"
        },
        Poison(name: "a type of control bytes", reason: "message.type_unexpected") {
            $0.properties.type = "purchase\r\n\u{1B}[31m\u{0}"
        },
        Poison(name: "no headers", reason: "message.version_unknown") { $0.properties.headers = [:] },
        header("version 0", HeaderName.schemaVersion, 0, "message.version_unknown"),
        header("version -1", HeaderName.schemaVersion, -1, "message.version_unknown"),
        header("the largest version", HeaderName.schemaVersion, .int64(.max), "message.version_unknown"),
        header("tomorrow's version", HeaderName.schemaVersion, 2, "message.body_unreadable"),
        header("a version that is text", HeaderName.schemaVersion, "1", "message.version_unknown"),
        header(
            "a version that is a table", HeaderName.schemaVersion, .table(["a": .array([1])]), "message.version_unknown"
        ),
        header("a version that is true", HeaderName.schemaVersion, true, "message.version_unknown"),
        header("an unknown environment", HeaderName.environment, "Xcode", "message.environment_unknown"),
        header("an environment that is a list", HeaderName.environment, .array(["Sandbox"]), "message.header_invalid"),
        header("an app of 100 kB", HeaderName.app, .string(text(100_000)), "message.header_invalid"),
        header("an app that is a number", HeaderName.app, 7, "message.header_invalid"),
        header("a cause that is a table", HeaderName.causationID, .table(["a": "b"]), "message.header_invalid"),
        Poison(name: "plain text", reason: "message.content_type_unknown") {
            $0.properties.contentType = "text/plain"
        },
        Poison(name: "a negative attempt", reason: Self.unreadable) {
            $0.properties.headers[HeaderName.attempt] = .int64(.min)
            $0.body = []
        },
        Poison(name: "an absurd attempt", reason: Self.unreadable) {
            $0.properties.headers[HeaderName.attempt] = .int64(.max)
            $0.body = []
        },
        Poison(name: "an absurd time", reason: Self.unreadable) {
            $0.properties.headers[HeaderName.occurredAt] = .int64(.min)
            $0.properties.timestamp = .min
            $0.body = []
        },
        Poison(name: "headers of the broker's own", reason: Self.unreadable) {
            $0.properties.headers["x-death"] = .array([
                .table(["count": 99, "reason": "expired", "queue": "granting.purchases"])
            ])
            $0.properties.headers["x-delivery-count"] = 49
            $0.body = []
        },
    ]

    /// Where answers go is the sender's to say; nonsense there must harm nobody.
    static let replyAddresses: [Poison] = [
        "", "nobody", text(255), "purser.facts", "../../etc/passwd", "'; DROP TABLE granting.ledger; --", "\u{0}\r\n",
    ].map { address in
        Poison(name: "the reply address \(address.prefix(20))", reason: unreadable) {
            $0.properties.replyTo = address
            $0.body = []
        }
    }

    /// Bodies that are nothing on any queue.
    static let bodies: [Poison] = [
        body("an empty body", []), body("garbage", Array("garbage".utf8)), body("null", Array("null".utf8)),
        body("a list", Array("[]".utf8)), body("an empty object", Array("{}".utf8)),
        body("a text", Array("\"{}\"".utf8)),
        body("half an object", Array("{\"app\":\"cloudpc\"".utf8)), body("not UTF-8", [0xFF, 0xFE, 0x00, 0xD8]),
        body("a hundred thousand lists", [UInt8](repeating: UInt8(ascii: "["), count: 100_000)),
        body("a hundred thousand objects", Array(String(repeating: "{\"a\":", count: 100_000).utf8)),
        body("a gzip stream", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]),
        // The broker takes 4 MiB.
        body("four million zeros", [UInt8](repeating: 0, count: 4 << 20)),
        body("four million digits", [UInt8](repeating: UInt8(ascii: "9"), count: 4 << 20)),
    ]

    static let unreadable = "message.body_unreadable"

    static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private static func header(_ name: String, _ key: String, _ value: AMQPHeaderValue, _ reason: String) -> Poison {
        Poison(name: name, reason: reason) { $0.properties.headers[key] = value }
    }

    private static func body(_ name: String, _ bytes: [UInt8]) -> Poison {
        Poison(name: name, reason: unreadable) { $0.body = bytes }
    }
}
