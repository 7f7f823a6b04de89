import FoundationEssentials

/// The topology as a RabbitMQ definitions file (`rabbitmqctl import_definitions`).
extension Topology {
    /// The definitions as JSON. `passwordHashes` maps users to RabbitMQ's salted SHA-256 hashes; users without one are
    /// left out together with their permissions, so that tests can import the shape alone.
    public static func definitions(virtualHost: String = "/", passwordHashes: [String: String]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(Definitions(virtualHost: virtualHost, passwordHashes: passwordHashes)))
    }

    /// The policy applied to a work queue. Compared with the broker's by `purser check`.
    static func policy(for queue: Queue, virtualHost: String) -> Definitions.Policy? {
        let pattern = "^" + escaped(queue.name) + "$"
        switch queue.durability {
        case .work:
            return Definitions.Policy(
                vhost: virtualHost, name: queue.name, pattern: pattern, applyTo: "queues", priority: 10,
                definition: [
                    "delivery-limit": .integer(deliveryLimit), "dead-letter-exchange": .text(parked),
                    "dead-letter-routing-key": .text(queue.name), "dead-letter-strategy": .text("at-least-once"),
                    "overflow": .text("reject-publish"),
                ])
        case .query:
            return Definitions.Policy(
                vhost: virtualHost, name: queue.name, pattern: pattern, applyTo: "queues", priority: 10,
                definition: ["message-ttl": .integer(queryPatience)])
        case .stream: return nil
        }
    }

    /// `text` as a literal inside a regular expression.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if ".*+?()[]{}|^$\\".contains(character) { result.append("\\") }
            result.append(character)
        }
    }

    /// A regular expression that matches exactly the given texts, or nothing if there are none.
    static func exactly(_ texts: [String]) -> String {
        texts.isEmpty ? "^$" : "^(" + texts.map(escaped).joined(separator: "|") + ")$"
    }
}

/// The shape of a definitions file, as far as Purser uses it.
struct Definitions: Encodable {
    enum Argument: Encodable, Equatable {
        case integer(Int)
        case text(String)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .integer(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            }
        }
    }

    struct VirtualHost: Encodable { let name: String }
    struct User: Encodable {
        let name: String
        let passwordHash: String
        let hashingAlgorithm = "rabbit_password_hashing_sha256"
        let tags: [String] = []
        enum CodingKeys: String, CodingKey {
            case name, tags
            case passwordHash = "password_hash"
            case hashingAlgorithm = "hashing_algorithm"
        }
    }
    struct Permission: Encodable { let user, vhost, configure, write, read: String }
    struct TopicPermission: Encodable { let user, vhost, exchange, write, read: String }
    struct Policy: Encodable {
        let vhost, name, pattern, applyTo: String
        let priority: Int
        let definition: [String: Argument]
        enum CodingKeys: String, CodingKey {
            case vhost, name, pattern, priority, definition
            case applyTo = "apply-to"
        }
    }
    struct Exchange: Encodable {
        let name, vhost, type: String
        let durable = true
        let autoDelete = false
        let `internal`: Bool
        let arguments: [String: Argument] = [:]
        enum CodingKeys: String, CodingKey {
            case name, vhost, type, durable, `internal`, arguments
            case autoDelete = "auto_delete"
        }
    }
    struct Queue: Encodable {
        let name, vhost: String
        let durable: Bool
        let autoDelete = false
        let arguments: [String: Argument]
        enum CodingKeys: String, CodingKey {
            case name, vhost, durable, arguments
            case autoDelete = "auto_delete"
        }
    }
    struct Binding: Encodable {
        let source, vhost, destination: String
        let destinationType = "queue"
        let routingKey: String
        let arguments: [String: Argument] = [:]
        enum CodingKeys: String, CodingKey {
            case source, vhost, destination, arguments
            case destinationType = "destination_type"
            case routingKey = "routing_key"
        }
    }

    let vhosts: [VirtualHost]
    let users: [User]
    let permissions: [Permission]
    let topicPermissions: [TopicPermission]
    let policies: [Policy]
    let exchanges: [Exchange]
    let queues: [Queue]
    let bindings: [Binding]

    enum CodingKeys: String, CodingKey {
        case vhosts, users, permissions, policies, exchanges, queues, bindings
        case topicPermissions = "topic_permissions"
    }

    init(virtualHost: String, passwordHashes: [String: String]) {
        vhosts = [VirtualHost(name: virtualHost)]
        let accesses = Topology.accesses.filter { passwordHashes[$0.user] != nil }
        users = accesses.map { User(name: $0.user, passwordHash: passwordHashes[$0.user] ?? "") }
        permissions = accesses.map { $0.permission(virtualHost: virtualHost) }
        topicPermissions = accesses.flatMap { $0.topicPermissions(virtualHost: virtualHost) }
        policies = Topology.queues.compactMap { Topology.policy(for: $0, virtualHost: virtualHost) }
        exchanges = Self.exchanges(virtualHost: virtualHost)
        queues = Self.queues(virtualHost: virtualHost)
        bindings = Self.bindings(virtualHost: virtualHost)
    }

    private static func exchanges(virtualHost: String) -> [Exchange] {
        [
            (Topology.retry, "topic", false), (Topology.parked, "topic", false),
            (Topology.returning, "topic", true), (Topology.replies, "direct", false),
        ].map {
            Exchange(name: $0.0, vhost: virtualHost, type: $0.1, internal: $0.2)
        }
            + Topology.accesses.map {
                Exchange(name: $0.exchange, vhost: virtualHost, type: "topic", internal: false)
            }
    }

    private static func queues(virtualHost: String) -> [Queue] {
        var queues: [Queue] = []
        for queue in Topology.queues {
            switch queue.durability {
            case .work:
                let quorum: [String: Argument] = ["x-queue-type": .text("quorum")]
                queues.append(Queue(name: queue.name, vhost: virtualHost, durable: true, arguments: quorum))
                queues.append(Queue(name: queue.parkedName, vhost: virtualHost, durable: true, arguments: quorum))
            case .query:
                queues.append(Queue(name: queue.name, vhost: virtualHost, durable: true, arguments: [:]))
            case .stream: continue
            }
        }
        for delay in Topology.RetryDelay.allCases {
            queues.append(
                Queue(
                    name: "retry.\(delay.rawValue)", vhost: virtualHost, durable: true,
                    arguments: [
                        "x-queue-type": .text("quorum"), "x-message-ttl": .integer(delay.milliseconds),
                        "x-dead-letter-exchange": .text(Topology.returning),
                        "x-dead-letter-strategy": .text("at-least-once"), "x-overflow": .text("reject-publish"),
                    ]))
        }
        queues.append(
            Queue(
                name: Topology.factsStream, vhost: virtualHost, durable: true,
                arguments: [
                    "x-queue-type": .text("stream"), "x-max-age": .text("\(Topology.factsRetentionDays)D"),
                ]))
        return queues
    }

    private static func bindings(virtualHost: String) -> [Binding] {
        var bindings: [Binding] = []
        func bind(_ source: String, _ key: String, _ queue: String) {
            bindings.append(Binding(source: source, vhost: virtualHost, destination: queue, routingKey: key))
        }
        func say(_ type: MessageType, _ queue: String) {
            for exchange in Topology.exchanges(saying: type) { bind(exchange, type.rawValue, queue) }
        }
        for queue in Topology.queues {
            for type in queue.types { say(type, queue.name) }
            guard queue.isWork else { continue }
            bind(Topology.parked, queue.name, queue.parkedName)
            bind(Topology.returning, "*.\(queue.name)", queue.name)
        }
        for delay in Topology.RetryDelay.allCases {
            bind(Topology.retry, "\(delay.rawValue).#", "retry.\(delay.rawValue)")
        }
        for type in Topology.streamedFacts { say(type, Topology.factsStream) }
        return bindings
    }
}

extension Topology.Access {
    fileprivate func permission(virtualHost: String) -> Definitions.Permission {
        let replyQueues = "\(Topology.escaped(user))\\.replies\\..+"
        var writes = [Topology.escaped(exchange)]
        var readable = reads.map { Topology.escaped($0.name) }
        if answers { writes.append(Topology.escaped(Topology.replies)) }
        if !reads.isEmpty { writes += [Topology.retry, Topology.parked].map(Topology.escaped) }
        if asks {
            // Binding an own reply queue takes "write" on the queue and "read" on the exchange.
            writes.append(replyQueues)
            readable += [replyQueues, Topology.escaped(Topology.replies)]
        }
        if operates {
            writes.append(Topology.escaped(Topology.retry))
            readable += Topology.workQueues.map { Topology.escaped($0.parkedName) }
        }
        return Definitions.Permission(
            user: user, vhost: virtualHost, configure: asks ? "^(\(replyQueues))$" : "^$",
            write: "^(" + writes.joined(separator: "|") + ")$",
            read: readable.isEmpty ? "^$" : "^(" + readable.joined(separator: "|") + ")$")
    }

    /// A record for every topic exchange: a missing one would mean "everything allowed".
    fileprivate func topicPermissions(virtualHost: String) -> [Definitions.TopicPermission] {
        let work = reads.filter(\.isWork).map(\.name)
        let back = work.flatMap { queue in Topology.RetryDelay.allCases.map { $0.routingKey(for: queue) } }
        let replay =
            operates ? Topology.workQueues.map { Topology.RetryDelay.seconds5.routingKey(for: $0.name) } : []
        let speaking = Topology.accesses.map { access in
            (access.exchange, access.user == user ? Topology.exactly(says.map(\.rawValue)) : "^$")
        }
        let writes =
            speaking + [
                (Topology.retry, Topology.exactly(back + replay)),
                (Topology.parked, Topology.exactly(work)),
                (Topology.returning, "^$"),
            ]
        return writes.map {
            Definitions.TopicPermission(user: user, vhost: virtualHost, exchange: $0.0, write: $0.1, read: "^$")
        }
    }
}
