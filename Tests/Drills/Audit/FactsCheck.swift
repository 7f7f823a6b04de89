import AMQP
import Crypto

/// Reads the facts stream from its beginning and compares it with the facts that are stored: nothing was told that is
/// not true (ghosts), nothing true was never told (zombies), and all copies of a fact are equal.
struct FactsCheck {
    /// A fact as it is stored.
    struct Fact: Equatable {
        let type: String
        let key: String
        let revision: Int64
        let cause: String
        let body: String

        /// What its id must be: UUID version 8 of SHA-256 over type, key, revision and cause.
        var id: String {
            let name = [type, key, String(revision), cause].joined(separator: "\n")
            var bytes = Array(SHA256.hash(Array(name.utf8)).prefix(16))
            bytes[6] = (bytes[6] & 0x0F) | 0x80
            bytes[8] = (bytes[8] & 0x3F) | 0x80
            let digits = Array(Hex.encode(bytes))
            return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
        }
    }

    /// A copy of a fact in the stream.
    struct Copy {
        let id: String
        let type: String
        let body: String
    }

    /// The types that go to the stream.
    static let types = [
        "purchase.granted", "purchase.held", "purchase.noted", "purchase.frozen", "purchase.clawedback", "debt.repaid",
        "risk.flagged", "risk.cleared", "order.created", "token.issued", "spend.decided", "consent.changed",
        "catalog.imported",
    ]
    /// A stream that is silent for so long has been read to its end: nobody publishes any more.
    private static let silence = Duration.seconds(2)
    private static let window = 500

    let broker: AMQPEndpoint
    let findings: Findings

    /// Reads, compares, and returns how many copies there were.
    func check(_ stored: [String: Fact]) throws -> Int {
        let copies = try read()
        compare(copies, with: stored)
        return copies.count
    }

    /// What was told against what is stored.
    func compare(_ copies: [Copy], with stored: [String: Fact]) {
        var seen: Set<String> = []
        var ghosts: [String] = []
        var changed: [String] = []
        for copy in copies {
            guard let fact = stored[copy.id] else {
                ghosts.append("\(copy.type) \(copy.id)")
                continue
            }
            seen.insert(copy.id)
            if fact.type != copy.type || fact.body != copy.body { changed.append("\(copy.type) \(copy.id)") }
        }
        findings.check("INV8", "no ghost: whatever was told is stored", ghosts)
        findings.check("INV6", "all copies of a fact are equal to what is stored", changed)
        findings.check(
            "INV8", "no zombie: whatever is stored was told",
            stored.filter { !seen.contains($0.key) }.map { "\($0.value.type) \($0.value.key)" })
        findings.check(
            "INV6", "the id of every fact follows from its type, key, revision and cause",
            stored.filter { $0.key != $0.value.id }.map { "\($0.value.type) \($0.value.key)" })
    }

    private func read() throws -> [Copy] {
        var consumer = try Consumer.open(
            broker, connectionName: "purser-drills facts", queue: "purser.facts", prefetch: Self.window,
            arguments: ["x-stream-offset": "first"])
        defer { consumer.close() }
        var copies: [Copy] = []
        while true {
            let deliveries = try consumer.receive(max: Self.window, wait: Self.silence)
            guard let last = deliveries.last else { return copies }
            copies += deliveries.map {
                Copy(
                    id: $0.properties.messageID ?? "", type: $0.properties.type ?? "",
                    body: String(decoding: $0.body, as: UTF8.self))
            }
            try consumer.acknowledge(upTo: last.tag)
        }
    }
}
