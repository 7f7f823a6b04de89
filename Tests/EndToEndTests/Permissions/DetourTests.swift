import Messages
import TestSupport
import Testing

/// Ways around the check of routing keys: the broker looks at the key of a message, but not at those in its header CC,
/// nor at what queues and exchanges send on. So nothing may depend on keys alone.
@Suite(.serialized) struct DetourTests {
    /// Whatever a user sets up for itself, and the messages it then sends, each saying how and where to.
    private func detours(_ user: String, _ stage: BrokerStage) -> (setUp: [[Deed]], messages: [Deed]) {
        let work = Topology.workQueues.map(\.name)
        let keys = Topology.queues.flatMap(\.types).map(\.rawValue) + work + work.map { "5s.\($0)" }
        let exchanges = stage.exchanges.filter { !$0.isEmpty && !$0.hasPrefix("amq.") }
        var setUp: [[Deed]] = [[], []]
        var messages: [Deed] = []
        for exchange in exchanges {
            // The key that is looked at is one the user may say there; all others come along.
            for key in BrokerRights.keys where BrokerRights.maySay(user, exchange, key) {
                messages.append(
                    .publish(exchange: exchange, key: key, copies: keys, body: "\(user) by CC on \(exchange)"))
            }
            let bound = Topology.replyQueue(user: user, boot: "bound-\(exchange)")
            let alternate = Topology.replyQueue(user: user, boot: "alternate-\(exchange)")
            setUp[0] += [.declareExchange(bound), .declareExchange(alternate, ["alternate-exchange": .text(exchange)])]
            setUp[1] += [.bindExchange(exchange, source: bound, key: "#")]
            for key in keys {
                messages.append(.publish(exchange: bound, key: key, body: "\(user) by a binding to \(exchange)"))
                messages.append(.publish(exchange: alternate, key: key, body: "\(user) by \(exchange) as alternate"))
                let dead = Topology.replyQueue(user: user, boot: "dead-\(exchange)-\(key)")
                setUp[0] += [
                    .declareQueue(
                        dead,
                        [
                            "x-message-ttl": .integer(0), "x-dead-letter-exchange": .text(exchange),
                            "x-dead-letter-routing-key": .text(key),
                        ]),
                    .declareExchange(dead),
                ]
                setUp[1].append(.bind(dead, exchange: dead, key: "#"))
                messages.append(.publish(exchange: dead, key: "k", body: "\(user) by dead letters to \(exchange)"))
            }
        }
        return (setUp, messages)
    }

    @Test(arguments: BrokerRights.users)
    func `whatever a user makes for itself, its messages reach no more than it may reach (S47)`(_ user: String)
        async throws
    {
        let stage = try await BrokerStage.make("detours")
        try await onThread {
            _ = try stage.drain()
            let client = try stage.client(user)
            let (setUp, messages) = detours(user, stage)
            for step in setUp { _ = try client.attempt(step) }
            let verdicts = try client.attempt(messages)
            #expect(verdicts.contains(.done), "at least its own words are its to say")
            var found = try stage.drain()
            // The detours do work, for what the user may say; and dead letters are on their way for a moment.
            try eventually("what took a detour has arrived") {
                found.merge(try stage.drain()) { $0 + $1 }
                return Set(detourNames(user)).isSubset(of: found.values.joined())
            }
            for (queue, bodies) in found where !BrokerRights.mayReach(user, queue) {
                for body in Set(bodies) { Issue.record("\(queue) holds: \(body)") }
            }
            try remove(setUp, stage)
        }
    }

    /// The bodies of what must arrive.
    private func detourNames(_ user: String) -> [String] {
        let own = Topology.exchange(of: user)
        guard BrokerRights.askers.contains(user) else { return ["\(user) by CC on \(own)"] }
        return [
            "\(user) by CC on \(own)", "\(user) by a binding to \(own)", "\(user) by \(own) as alternate",
            "\(user) by dead letters to \(own)",
        ]
    }

    private func remove(_ setUp: [[Deed]], _ stage: BrokerStage) throws {
        let undone = setUp.joined().compactMap { deed -> Deed? in
            switch deed {
            case .declareQueue(let name, _): .deleteQueue(name)
            case .declareExchange(let name, _): .deleteExchange(name)
            default: nil
            }
        }
        _ = try stage.administrator().attempt(undone)
    }
}
