import FoundationEssentials
import Messages

/// A RabbitMQ definitions file, as far as it decides who may say what and where messages go. What `rabbitmqctl
/// export_definitions` writes and what `purser topology` prints have the same form.
struct BrokerDefinitions: Decodable {
    /// A value of arguments and policies.
    enum Value: Decodable, Equatable, CustomStringConvertible {
        case integer(Int64)
        case text(String)
        /// Anything else: lists, numbers with fractions, truth values. None of ours.
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let integer = try? container.decode(Int64.self) {
                self = .integer(integer)
            } else {
                self = (try? container.decode(String.self)).map { .text($0) } ?? .other
            }
        }

        var description: String {
            switch self {
            case .integer(let integer): String(integer)
            case .text(let text): text
            case .other: "(something else)"
            }
        }
    }

    struct VirtualHost: Decodable { let name: String }
    struct User: Decodable {
        let name: String
        /// Administrator, management and the like; older brokers write one text.
        let tags: [String]

        enum CodingKeys: String, CodingKey { case name, tags }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            tags =
                try (try? container.decode([String].self, forKey: .tags))
                ?? container.decode(String.self, forKey: .tags).split(separator: ",").map(String.init)
        }
    }
    struct Permission: Decodable { let user, vhost, configure, write, read: String }
    struct TopicPermission: Decodable { let user, vhost, exchange, write, read: String }
    struct Parameter: Decodable {
        let vhost: String?
        let component, name: String
    }
    struct Policy: Decodable {
        let vhost, name, pattern, applyTo: String
        let priority: Int
        let definition: [String: Value]
        enum CodingKeys: String, CodingKey {
            case vhost, name, pattern, priority, definition
            case applyTo = "apply-to"
        }
    }
    struct Exchange: Decodable {
        let vhost, name, type: String
        let durable, autoDelete: Bool
        /// Not exported by RabbitMQ 3.10, which imports it.
        let `internal`: Bool?
        let arguments: [String: Value]
        enum CodingKeys: String, CodingKey {
            case vhost, name, type, durable, arguments, `internal`
            case autoDelete = "auto_delete"
        }
    }
    struct Queue: Decodable {
        let vhost, name: String
        let durable, autoDelete: Bool
        let arguments: [String: Value]
        enum CodingKeys: String, CodingKey {
            case vhost, name, durable, arguments
            case autoDelete = "auto_delete"
        }
    }
    struct Binding: Decodable {
        let vhost, source, destination, destinationType, routingKey: String
        let arguments: [String: Value]
        enum CodingKeys: String, CodingKey {
            case vhost, source, destination, arguments
            case destinationType = "destination_type"
            case routingKey = "routing_key"
        }
    }

    let vhosts: [VirtualHost]
    let users: [User]
    let permissions: [Permission]
    let topicPermissions: [TopicPermission]
    let parameters: [Parameter]
    let policies: [Policy]
    let exchanges: [Exchange]
    let queues: [Queue]
    let bindings: [Binding]

    enum CodingKeys: String, CodingKey {
        case vhosts, users, permissions, parameters, policies, exchanges, queues, bindings
        case topicPermissions = "topic_permissions"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        vhosts = try container.decode([VirtualHost].self, forKey: .vhosts)
        users = try container.decode([User].self, forKey: .users)
        permissions = try container.decode([Permission].self, forKey: .permissions)
        topicPermissions = try container.decode([TopicPermission].self, forKey: .topicPermissions)
        // Our own file has none.
        parameters = try container.decodeIfPresent([Parameter].self, forKey: .parameters) ?? []
        policies = try container.decode([Policy].self, forKey: .policies)
        exchanges = try container.decode([Exchange].self, forKey: .exchanges)
        queues = try container.decode([Queue].self, forKey: .queues)
        bindings = try container.decode([Binding].self, forKey: .bindings)
    }
}

extension BrokerDefinitions {
    /// Everything that counts in one virtual host, a name for each thing and its properties in words.
    ///
    /// A user counts if it has a right in the host, or a tag, which gives rights in all of them.
    func things(in host: String) -> [String: [String: String]] {
        var things: [String: [String: String]] = [:]
        for vhost in vhosts where vhost.name == host { things["virtual host \(host)"] = [:] }
        let entering = Set(permissions.filter { $0.vhost == host }.map(\.user))
        for user in users where entering.contains(user.name) || !user.tags.isEmpty {
            things["user \(user.name)"] = ["tags": user.tags.sorted().joined(separator: " ")]
        }
        for permission in permissions where permission.vhost == host {
            things["permission of \(permission.user)"] = [
                "configure": permission.configure, "write": permission.write, "read": permission.read,
            ]
        }
        for permission in topicPermissions where permission.vhost == host {
            things["topic permission of \(permission.user) on \(permission.exchange)"] = [
                "write": permission.write, "read": permission.read,
            ]
        }
        for parameter in parameters where parameter.vhost == host {
            things["parameter \(parameter.component) \(parameter.name)"] = [:]
        }
        for policy in policies where policy.vhost == host {
            things["policy \(policy.name)"] = [
                "pattern": policy.pattern, "applies to": policy.applyTo, "priority": String(policy.priority),
                "definition": Self.words(policy.definition),
            ]
        }
        addPlaces(host, &things)
        return things
    }

    private func addPlaces(_ host: String, _ things: inout [String: [String: String]]) {
        // RabbitMQ exports no internal exchange: infra/scripts/topology check asks the broker for that one.
        for exchange in exchanges
        where exchange.vhost == host && !exchange.name.hasPrefix("amq.") && exchange.internal != true {
            things["exchange \(exchange.name)"] = [
                "type": exchange.type, "durable": String(exchange.durable),
                "auto-delete": String(exchange.autoDelete), "arguments": Self.words(exchange.arguments),
            ]
            things["exchange \(exchange.name)"]?["internal"] = exchange.internal.map { String($0) }
        }
        for queue in queues where queue.vhost == host {
            things["queue \(queue.name)"] = [
                "durable": String(queue.durable), "auto-delete": String(queue.autoDelete),
                "arguments": Self.words(queue.arguments),
            ]
        }
        for binding in bindings where binding.vhost == host && !Self.isReplyQueue(binding) {
            let name = "binding \(binding.source) → \(binding.destinationType) \(binding.destination)"
            things["\(name) by \(binding.routingKey)"] = ["arguments": Self.words(binding.arguments)]
        }
    }

    /// A running asker's queue, bound as it should be. Such queues are exclusive and not exported; their bindings are.
    private static func isReplyQueue(_ binding: Binding) -> Bool {
        binding.source == Topology.replies && binding.destinationType == "queue"
            && binding.routingKey == binding.destination
            && Topology.accesses.contains {
                $0.asks && binding.destination.hasPrefix(Topology.replyQueue(user: $0.user, boot: ""))
            }
    }

    private static func words(_ values: [String: Value]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}
