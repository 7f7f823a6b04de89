import AMQP
import Messages
import Runtime
import Synchronization

/// Receives the answers to queued purchases on a queue of its own and remembers when each came. One thread.
final class Answers: Sendable {
    private struct State {
        var granted: [ContinuousClock.Instant] = []
        var wrong: [String] = []
        var isOpen = false
        var failure: String?
    }

    /// The queue, as the gateway would call its own.
    let queue: String
    private let state = Mutex(State())
    private let stop = StopSignal()
    private let thread = Mutex<NamedThread?>(nil)

    private init(queue: String) { self.queue = queue }

    /// Opens the queue as the gateway's user and starts to receive.
    static func start(_ broker: AMQPEndpoint, name: String) throws -> Answers {
        let answers = Answers(queue: Topology.replyQueue(user: "gateway", boot: name))
        let thread = NamedThread.start(name: "answers") { answers.listen(broker) }
        answers.thread.withLock { $0 = thread }
        let never = StopSignal()
        while !answers.state.withLock({ $0.isOpen }) {
            if let failure = answers.failure { throw Site.Failure(description: "no answers: \(failure)") }
            _ = never.wait(for: .milliseconds(10))
        }
        return answers
    }

    /// Ends.
    func finish() {
        stop.stop()
        thread.withLock { $0 }?.join()
    }

    /// How many were granted.
    var count: Int { state.withLock { $0.granted.count } }
    /// When each grant was answered, in order.
    var times: [ContinuousClock.Instant] { state.withLock { $0.granted } }
    /// Answers other than `granted`.
    var wrong: [String] { state.withLock { $0.wrong } }
    /// Why nothing is received any more.
    var failure: String? { state.withLock { $0.failure } }

    private func listen(_ broker: AMQPEndpoint) {
        do {
            var consumer = try Consumer.open(
                broker, connectionName: "purser-drills answers", queue: queue, prefetch: 500,
                setUp: .exclusiveReplyQueue(name: queue, exchange: Topology.replies, routingKey: queue))
            state.withLock { $0.isOpen = true }
            while !stop.isStopped {
                let deliveries = try consumer.receive(max: 500, wait: .milliseconds(100))
                for delivery in deliveries { take(delivery) }
                if let last = deliveries.last { try consumer.acknowledge(upTo: last.tag) }
                if deliveries.isEmpty { try consumer.serveHeartbeat() }
            }
            consumer.close()
        } catch {
            state.withLock { $0.failure = "\(error)" }
        }
    }

    private func take(_ delivery: Delivery) {
        let now = ContinuousClock.now
        let answer = try? MessageCoding.decode(PurchaseAnswered.self, from: delivery.body)
        state.withLock { state in
            if answer?.status == .granted {
                state.granted.append(now)
            } else {
                let id = delivery.properties.correlationID ?? "?"
                state.wrong.append("\(id): \(answer?.status.rawValue ?? delivery.properties.type ?? "unreadable")")
            }
        }
    }
}
