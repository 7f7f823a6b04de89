import AMQP
import Messages
import Pipeline
import TestSupport

/// Somebody inside the virtual host with every right there: says what no service would say. Own threads only.
struct Insider {
    /// A message that a lane gave up, and when it lay in the parking queue.
    struct Parked {
        let correlationID: String?
        let reason: String
        let at: ContinuousClock.Instant
    }

    let deployment: Deployment
    let endpoint: AMQPEndpoint

    /// Gives the broker's administrator all rights in the deployment's virtual host.
    init(_ deployment: Deployment) throws {
        self.deployment = deployment
        endpoint = deployment.platform.broker.with(virtualHost: deployment.virtualHost)
        _ = try Command.run(
            deployment.platform.controlScript,
            ["set_permissions", "-p", deployment.virtualHost, endpoint.user, ".*", ".*", ".*"])
    }

    /// A message as a service of ours would send it.
    func message(_ body: some Message, id: String = UUIDText.random()) throws -> OutgoingMessage {
        message(body.messageType, try MessageCoding.encode(body), id: id)
    }

    /// A message with any body.
    func message(_ type: MessageType, _ body: [UInt8], id: String = UUIDText.random()) -> OutgoingMessage {
        let properties = MessageProperties(
            messageID: id, type: type.rawValue, correlationID: UUIDText.random(), contentType: "application/json",
            headers: [HeaderName.schemaVersion: 1, HeaderName.occurredAt: 1_780_000_000_000])
        return OutgoingMessage(
            exchange: Topology.exchanges(saying: type).first ?? "", routingKey: type.rawValue, properties: properties,
            body: body)
    }

    /// Publishes and makes sure that the broker has it.
    func publish(_ messages: [OutgoingMessage]) throws {
        var publisher = try Publisher.open(endpoint, connectionName: "insider")
        defer { publisher.close() }
        let outcomes = try publisher.publish(messages)
        guard outcomes.allSatisfy({ $0 == .confirmed }) else {
            throw Places.Missing(description: "not all confirmed: \(outcomes)")
        }
    }

    /// Takes `count` messages out of a queue's parking queue, or what has come after `limit`; and, should more come than
    /// expected, those that follow within a moment.
    func parked(of queue: Topology.Queue, count: Int, within limit: Duration = .seconds(60)) throws -> [Parked] {
        var consumer = try Consumer.open(
            endpoint, connectionName: "insider", queue: queue.parkedName, prefetch: 200)
        defer { consumer.close() }
        let deadline = ContinuousClock.now + limit
        var all: [Parked] = []
        while ContinuousClock.now < deadline {
            let some = try consumer.receive(max: 200, wait: .milliseconds(all.count < count ? 50 : 300))
            if some.isEmpty, all.count >= count { break }
            guard let last = some.last else { continue }
            let now = ContinuousClock.now
            all += some.map {
                Parked(
                    correlationID: $0.properties.correlationID,
                    reason: $0.properties.headers[HeaderName.reason]?.stringValue ?? "", at: now)
            }
            try consumer.acknowledge(upTo: last.tag)
        }
        return all
    }

    /// Empties the parking queues.
    func clear() throws {
        for queue in Topology.queues {
            guard case .work = queue.durability else { continue }
            _ = try parked(of: queue, count: 0, within: .seconds(5))
        }
    }
}
