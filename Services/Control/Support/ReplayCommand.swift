import AMQP
import Messages
import Observability
import Pipeline

/// `purser replay`: parked messages of a queue, shown with their reasons or sent back to it. What was handled meanwhile
/// changes nothing: whoever reads them knows them by their keys. One that did not come from a lane or the broker by
/// the parking exchange was smuggled in: it is shown and stays.
struct ReplayCommand {
    static let usage = """
        usage: purser replay QUEUE [--id UUID] [--limit NUMBER] [--dry-run]

          QUEUE      the queue that gave them up, granting.purchases for example
          --id       this message only
          --limit    the first of them; 100 without it
          --dry-run  shows them and moves nothing
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    struct Options: Equatable {
        let queue: String
        let id: String?
        let limit: Int
        let isDryRun: Bool

        /// Messages of one run at most: all of them are held unacknowledged until the end.
        private static let mostMessages: Int64 = 10_000

        init(_ arguments: [String]) throws(WordProblem) {
            let words = try CommandWords(arguments, values: ["--id", "--limit"], flags: ["--dry-run"])
            let queues = Topology.workQueues.map(\.name)
            guard words.plain.count == 1, let name = words.plain.first, queues.contains(name) else {
                throw WordProblem(text: "which queue? One of " + queues.joined(separator: ", "))
            }
            queue = name
            id = words["--id"]?.lowercased()
            limit = Int(try words.count("--limit", default: 100, limit: Self.mostMessages))
            isDryRun = words.has("--dry-run")
        }
    }

    /// Exit code: 0 done, 1 unreachable or not found, 2 wrong usage or settings. Blocks.
    func run(arguments: [String]) -> Int32 {
        let options: Options
        do throws(WordProblem) {
            options = try Options(arguments)
        } catch {
            output("purser replay: \(error.text)")
            output(Self.usage)
            return 2
        }
        switch ControlSettings.read(environment: environment, needing: [.broker]) {
        case .failure(let problems):
            for sentence in problems.sentences { output(sentence) }
            return 2
        case .success(let settings):
            guard let broker = settings.broker else { return 2 }
            do {
                let count = try replay(options, broker)
                output(options.isDryRun ? "\(count) would be sent back" : "\(count) sent back")
                return options.id != nil && count == 0 ? 1 : 0
            } catch {
                output("stopped: \(error)")
                return 1
            }
        }
    }

    /// Whatever is not sent back is not acknowledged: it stays, in its place.
    private func replay(_ options: Options, _ broker: AMQPEndpoint) throws(AMQPError) -> Int {
        let parked = options.queue + ".parked"
        var inspector = try Inspector.open(broker, connectionName: "purser replay")
        let waiting = min(try inspector.queue(parked)?.messages ?? 0, Self.window)
        inspector.close()
        guard waiting > 0 else { return 0 }
        var consumer = try Consumer.open(
            broker, connectionName: "purser replay", queue: parked, prefetch: waiting)
        defer { consumer.close() }
        var publisher: Publisher? = options.isDryRun ? nil : try Publisher.open(broker, connectionName: "purser replay")
        var (seen, count) = (0, 0)
        while seen < waiting, count < options.limit {
            // Five seconds without any: somebody else has taken the rest.
            let some = try consumer.receive(max: waiting, wait: .seconds(5))
            guard !some.isEmpty else { break }
            seen += some.count
            for delivery in some where count < options.limit {
                let id = delivery.properties.messageID ?? "-"
                guard options.id == nil || options.id == id.lowercased() else { continue }
                guard delivery.exchange == Topology.parked, delivery.routingKey == options.queue else {
                    output("not ours, stays: " + Self.line(delivery, id))
                    continue
                }
                count += 1
                output(Self.line(delivery, id))
                guard publisher != nil else { continue }
                try publisher?.send(back: delivery, to: options.queue)
                try consumer.acknowledge(delivery.tag)
            }
        }
        // What is acknowledged must have reached the broker before the connection ends.
        try consumer.serveHeartbeat()
        consumer.cancel()
        return count
    }

    /// Messages looked at in one run at most: the prefetch is a number of 16 bits.
    private static let window = 20_000

    private static func line(_ delivery: Delivery, _ id: String) -> String {
        let reason = delivery.properties.headers[HeaderName.reason]?.stringValue ?? "delivery_limit"
        let type = delivery.properties.type ?? "-"
        return TextTable.printable("\(id)  \(type)  \(reason)")
    }
}

extension Publisher {
    /// Sends a parked message back by the shortest step of the retry ladder, as if it had never been tried, and waits
    /// until the broker has it.
    fileprivate mutating func send(back delivery: Delivery, to queue: String) throws(AMQPError) {
        let message = Envelope.forward(
            delivery, exchange: Topology.retry, routingKey: Topology.RetryDelay.seconds5.routingKey(for: queue),
            reason: "replayed", attempt: 0)
        guard try publish([message]).allSatisfy({ $0 == .confirmed }) else {
            throw .protocolViolation(reason: "no queue takes it; is the topology imported?")
        }
    }
}
