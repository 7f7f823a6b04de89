import AMQP
import Messages
import Pipeline
import TestSupport

/// What comes out of a queue: properties, headers, bodies of every type. The first byte of the input chooses the type, the
/// rest is the body; strange properties follow from all of it.
///
/// What is read as a message is within its bounds, can be sent on, and is then the same message.
struct MessageTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "null", "\"\"", "-1", "0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400", "1.5",
        "[]",
        "{}", "\\u0000", "\\ud800", "\u{0}", "'; DROP TABLE x; --", "\"transactionID\":", "\"amount\":", "[[[[[[[[[[",
        "\u{FEFF}",
        ",\"app\":\"b\"", "é", "e\u{301}",
    ]

    private static let kinds: [any Message.Type] = [
        PurchaseSubmitted.self, PurchaseVerified.self, PurchaseGranted.self, PurchaseHeld.self, PurchaseClawedBack.self,
        DebtRepaid.self, RiskFlagged.self, RiskClearRequested.self, RiskClearAnswered.self, RiskCleared.self,
        EntitlementsRequested.self,
        EntitlementsAnswered.self,
        PurchaseRedriveRequested.self, PurchaseAnswered.self, OrderRequested.self, OrderCreated.self,
        OrderAnswered.self,
        SpendRequested.self, SpendDecided.self, SpendAnswered.self, CatalogImportRequested.self, CatalogImported.self,
        CatalogRequested.self, CatalogAnswered.self, BalanceRequested.self, BalanceAnswered.self, LedgerRequested.self,
        LedgerAnswered.self, TransactionRequested.self, TransactionAnswered.self, RequestParked.self,
        NotificationReceived.self, NotificationVerified.self, NotificationRedriveRequested.self,
        NotificationRedriveAnswered.self, ConsentChangeRequested.self, ConsentRequested.self, ConsentAnswered.self,
        ConsumptionAssessmentRequested.self, ConsumptionAssessed.self, HistoryRequested.self, HistoryAnswered.self,
    ]
    private static let texts = [
        "", "not-a-uuid", "6E3FB20B-4CDB-47CC-936D-99D65F608138", "6e3fb20b-4cdb-47cc-936d-99d65f608138", "\u{0}", "é",
        "\r\n", "application/json", "Production", "Sandbox", "Xcode", String(repeating: "x", count: 255),
        String(repeating: "y", count: 70_000),
    ]

    init(_ files: FuzzFiles) {
        let golden = FileBytes.folder("\(files.fixtures)/messages")
        seeds =
            Self.kinds.enumerated().flatMap { number, kind in
                golden.filter { $0.name.hasPrefix(kind.type.rawValue + ".v") }.map { [UInt8(number)] + $0.bytes }
            } + files.corpus("message")
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let first = input.first else { return false }
        let kind = Self.kinds[Int(first) % Self.kinds.count]
        let body = Array(input.dropFirst())
        try checkEnvelope(
            kind.type, body, hash: input.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
        return try Self.read(kind, body)
    }

    private static func read<M: Message>(_ type: M.Type, _ body: [UInt8]) throws(Violation) -> Bool {
        guard let message = try? MessageCoding.decode(type, from: body) else { return false }
        guard let written = try? MessageCoding.encode(message),
            let again = try? MessageCoding.decode(type, from: written)
        else { throw Violation(what: "\(type) was read and cannot be written and read again") }
        try Violation.unless(again == message, "\(type) is read as something else after it was written")
        return true
    }

    /// `hash` decides everything, so that an input always has the same properties.
    private func checkEnvelope(_ type: MessageType, _ body: [UInt8], hash: UInt64) throws(Violation) {
        var generator = SeededGenerator(seed: hash)
        guard let queue = Topology.queues.first(where: { $0.types.contains(type) }) else { return }
        let properties = Self.properties(type, &generator)
        let delivery = Delivery(
            tag: 1, exchange: Topology.exchanges(saying: type).first ?? "", routingKey: type.rawValue,
            isRedelivered: false, properties: properties, body: body)
        let forwarded = Envelope.forward(
            delivery, exchange: Topology.parked, routingKey: queue.name, reason: "test", attempt: 1)
        let size = forwarded.properties.headers.reduce(0) {
            $0 + $1.key.utf8.count + ($1.value.stringValue?.utf8.count ?? 8)
        }
        try Violation.unless(size < 4_096, "\(size) bytes of headers are sent on")
        guard case .success(let incoming) = Envelope.read(delivery, from: queue) else { return }
        let header = incoming.header
        try Violation.unless((1..<1_000).contains(header.version), "version \(header.version) was accepted")
        try Violation.unless((0...1_000_000).contains(header.attempt), "attempt \(header.attempt) was accepted")
        try Violation.unless(UUIDText.parse(header.id.rawValue) != nil, "an id that is no UUID was accepted")
        var again = delivery
        again.properties = forwarded.properties
        guard case .success(let copy) = Envelope.read(again, from: queue) else {
            throw Violation(what: "what was accepted cannot be read after it was sent on")
        }
        var expected = header
        expected.attempt = 1
        try Violation.unless(copy.header == expected && copy.body == body, "what was sent on is another message")
    }

    private static func properties(_ type: MessageType, _ generator: inout SeededGenerator) -> MessageProperties {
        var properties = MessageProperties(
            messageID: "6e3fb20b-4cdb-47cc-936d-99d65f608138", type: type.rawValue, correlationID: "c",
            contentType: "application/json", headers: [HeaderName.schemaVersion: 1])
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            let text = texts.randomElement(using: &generator)
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: properties.messageID = text
            case 1: properties.type = text
            case 2: properties.correlationID = text
            case 3: properties.replyTo = text
            case 4: properties.contentType = text
            case 5: properties.headers["other"] = value(text, &generator)
            default:
                let names = [
                    HeaderName.schemaVersion, HeaderName.occurredAt, HeaderName.causationID, HeaderName.app,
                    HeaderName.environment, HeaderName.attempt, HeaderName.reason,
                ]
                properties.headers[names.randomElement(using: &generator) ?? ""] = value(text, &generator)
            }
        }
        return properties
    }

    private static func value(_ text: String?, _ generator: inout SeededGenerator) -> AMQPHeaderValue {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: .int64(Int64.random(in: .min ... .max, using: &generator))
        case 1: .int64(Int64.random(in: -2...1_001, using: &generator))
        case 2: .bool(true)
        case 3: .table(["a": .array([.table([:])])])
        default: .string(text ?? "")
        }
    }
}
