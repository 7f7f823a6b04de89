import AMQP
import Runtime

/// What is in the broker's queues, by the broker itself.
struct QueueCensus {
    /// Messages by queue, delivered and unacknowledged ones included; the facts stream is left out.
    let messages: [String: Int]

    /// What `rabbitmqctl` says of a quorum queue may be as old as its tick of 5 s.
    private static let tick = Duration.seconds(6)

    /// A census that does not count what has changed since the last tick; to be taken when nothing moves any more.
    static func takeSettled(_ site: Site) throws -> QueueCensus {
        _ = StopSignal().wait(for: tick)
        return try take(site)
    }

    /// Asks `rabbitmqctl` for everything (half a second) and each queue for what is ready, which is exact.
    static func take(_ site: Site) throws -> QueueCensus {
        let listed = try site.run("broker", "ctl", "--silent", "list_queues", "name", "messages")
        var inspector = try Inspector.open(site.broker, connectionName: "purser-drills queues")
        defer { inspector.close() }
        var messages: [String: Int] = [:]
        for line in listed.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard words.count == 2, let count = Int(words[1]), words[0] != "purser.facts" else { continue }
            let name = String(words[0])
            // Reply queues are exclusive: nobody else may ask them.
            let ready = name.contains(".replies.") ? 0 : try inspector.queue(name)?.messages ?? 0
            messages[name] = max(count, ready)
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
