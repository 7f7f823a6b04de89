import AMQP
import Messages

/// How many messages wait in the broker: what may still hold a purchase that the books do not know yet.
struct AuditQueues: Equatable {
    /// Ready messages by queue; those in the hands of a lane are not counted by the broker's answer.
    private(set) var messages: [String: Int] = [:]

    /// The queues of the retry ladder: any queue's messages may wait there.
    static let ladder = Topology.RetryDelay.allCases.map { "retry.\($0.rawValue)" }

    /// Every durable queue, and each one's parked messages.
    static let all =
        Topology.queues.filter { if case .work = $0.durability { true } else { false } }
        .flatMap { [$0.name, $0.parkedName] } + ladder

    /// Asks the broker (queue.declare passive, for which user `control` needs no right). Blocks for some ms.
    static func read(_ endpoint: AMQPEndpoint) throws(AMQPError) -> AuditQueues {
        var inspector = try Inspector.open(endpoint, connectionName: "purser audit")
        defer { inspector.close() }
        var queues = AuditQueues()
        for name in all { queues.messages[name] = try inspector.queue(name)?.messages ?? 0 }
        return queues
    }

    /// At least as many as in either of two readings: what moved meanwhile is in one of them.
    func merged(with other: AuditQueues) -> AuditQueues {
        AuditQueues(messages: messages.merging(other.messages) { max($0, $1) })
    }

    /// How many of what these queues hold may wait, at most.
    func bound(_ queues: [String]) -> Int { queues.reduce(0) { $0 + (messages[$1] ?? 0) } }
}
