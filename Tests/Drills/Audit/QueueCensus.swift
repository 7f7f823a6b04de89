import AMQP

/// What is in the broker's queues, by the broker's own tool.
struct QueueCensus {
    /// Messages by queue, delivered and unacknowledged ones included; the facts stream is left out.
    let messages: [String: Int]

    /// Asks `rabbitmqctl` (half a second).
    static func take(_ site: Site) throws -> QueueCensus {
        let listed = try site.run("broker", "ctl", "--silent", "list_queues", "name", "messages")
        var messages: [String: Int] = [:]
        for line in listed.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard words.count == 2, let count = Int(words[1]), words[0] != "purser.facts" else { continue }
            messages[String(words[0])] = count
        }
        guard !messages.isEmpty else { throw Site.Failure(description: "the broker lists no queues: \(listed)") }
        return QueueCensus(messages: messages)
    }

    /// Queues with messages that could not be handled.
    var parked: [String: Int] { messages.filter { $0.key.hasSuffix(".parked") && $0.value > 0 } }
    /// Queues with messages that wait.
    var waiting: [String: Int] { messages.filter { !$0.key.hasSuffix(".parked") && $0.value > 0 } }

    /// Type, id and reason of what is parked, a few a queue; it stays there.
    func parkedMessages(_ site: Site) throws -> [String] {
        var told: [String] = []
        for queue in parked.keys.sorted() {
            var consumer = try Consumer.open(
                site.broker, connectionName: "purser-drills parked", queue: queue, prefetch: Self.told)
            for delivery in try consumer.receive(max: Self.told, wait: .seconds(2)) {
                let reason = delivery.properties.headers["x-reason"]?.stringValue ?? "the delivery limit"
                told.append(
                    "\(queue): \(delivery.properties.type ?? "?") \(delivery.properties.messageID ?? "?"): \(reason)")
            }
            consumer.close()
        }
        return told
    }

    private static let told = 5
}
