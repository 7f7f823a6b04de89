import AMQP
import TestSupport

/// The broker of this target's suites, and short words for what they do with it. Blocking: own threads only.
enum BrokerFixture {
    static func shared() async throws -> TestBroker { try await TestBroker.shared("amqp") }

    /// A name that no other test uses.
    static func uniqueName(_ prefix: String) -> String {
        "\(prefix)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }
}

extension TestBroker {
    /// Declares a fresh queue and answers its name.
    func freshQueue(
        _ prefix: String = "q", kind: QueueKind = .quorum, arguments: [String: AMQPHeaderValue] = [:]
    ) throws -> String {
        let name = BrokerFixture.uniqueName(prefix)
        try declareQueue(name, kind: kind, arguments: arguments)
        return name
    }

    /// Publishes numbered messages straight into a queue.
    func fill(_ queue: String, count: Int) throws {
        _ = try publish((0..<count).map { .numbered($0, to: queue) })
    }
}

extension OutgoingMessage {
    /// A message with a number as its body, through the default exchange.
    static func numbered(_ number: Int, to queue: String, awaitsConfirm: Bool = true) -> OutgoingMessage {
        OutgoingMessage(
            exchange: "", routingKey: queue, awaitsConfirm: awaitsConfirm,
            properties: .init(messageID: "m\(number)"), body: Array("\(number)".utf8))
    }
}

extension Delivery {
    /// The number in the body.
    var number: Int? { Int(String(decoding: body, as: UTF8.self)) }
}

/// Receives until `count` messages are there; throws when nothing comes for a minute.
func receive(_ count: Int, from consumer: inout Consumer) throws -> [Delivery] {
    var all: [Delivery] = []
    while all.count < count {
        let batch = try consumer.receive(max: count - all.count, wait: .seconds(60))
        guard !batch.isEmpty else { throw ConditionNotReached(description: "\(all.count) of \(count) messages came") }
        all += batch
    }
    return all
}

/// Something awaited did not come.
struct ConditionNotReached: Error, CustomStringConvertible {
    let description: String
}

/// Runs a body and answers the AMQP error it throws.
func amqpError(_ body: () throws -> Void) -> AMQPError? {
    do {
        try body()
        return nil
    } catch { return error as? AMQPError }
}
