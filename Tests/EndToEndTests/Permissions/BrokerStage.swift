import AMQP
import Messages
import Observability
import TestSupport

/// A virtual host with the real topology and the real users, in which nobody consumes.
struct BrokerStage: Sendable {
    let deployment: Deployment
    /// What exists there, as the broker tells.
    let exchanges: [String]
    let queues: [String]

    static func make(_ name: String) async throws -> BrokerStage {
        let deployment = try await Deployment.idle(name)
        return try await onThread {
            let administrator = deployment.platform.broker.user
            try Command.run(
                deployment.platform.controlScript,
                ["set_permissions", "-p", deployment.virtualHost, administrator, ".*", ".*", ".*"])
            return BrokerStage(
                deployment: deployment, exchanges: try list("exchanges", deployment),
                queues: try list("queues", deployment))
        }
    }

    private static func list(_ what: String, _ deployment: Deployment) throws -> [String] {
        let words = ["--silent", "list_" + what, "-p", deployment.virtualHost, "name"]
        let listed = try Command.run(deployment.platform.controlScript, words)
        let names = listed.split(separator: "\n").map(String.init)
        // The default exchange has no name.
        return what == "exchanges" ? [""] + names : names
    }

    /// A client that has stolen the password of `user`.
    func client(_ user: String) throws -> BareClient {
        try BareClient(try AMQPEndpoint(url: deployment.brokerURL(user: user)))
    }

    /// A client that may do everything.
    func administrator() throws -> BareClient {
        try BareClient(deployment.platform.broker.with(virtualHost: deployment.virtualHost))
    }

    /// Takes what lies in every queue but the stream: the bodies, by queue.
    func drain() throws -> [String: [String]] {
        let endpoint = deployment.platform.broker.with(virtualHost: deployment.virtualHost)
        var inspector = try Inspector.open(endpoint, connectionName: "test")
        defer { inspector.close() }
        var found: [String: [String]] = [:]
        for queue in queues where queue != Topology.factsStream {
            guard let messages = try inspector.queue(queue)?.messages, messages > 0 else { continue }
            var consumer = try Consumer.open(endpoint, connectionName: "test", queue: queue, prefetch: 500)
            defer { consumer.close() }
            while found[queue, default: []].count < messages {
                let some = try consumer.receive(max: 500, wait: .seconds(5))
                guard let last = some.last else { break }
                found[queue, default: []] += some.map { String(decoding: $0.body, as: UTF8.self) }
                try consumer.acknowledge(upTo: last.tag)
            }
        }
        return found
    }
}
