package import AMQP
package import Messages

/// Translates between AMQP deliveries and messages. Everything re-published carries our own headers only: `x-death` and
/// its like would make the broker believe in a dead-letter cycle and strand the message.
package enum Envelope {
    /// A delivery that is a message of its queue, or the stable reason why it is none.
    package static func read(_ delivery: Delivery, from queue: Topology.Queue) -> Result<Incoming, Malformed> {
        let properties = delivery.properties
        // Absent is taken for JSON: whoever sends by hand leaves it out.
        guard properties.contentType ?? "application/json" == "application/json" else { return .failure(.contentType) }
        guard let id = properties.messageID, UUIDText.parse(id) != nil else { return .failure(.id) }
        guard let typeName = properties.type else { return .failure(.type) }
        let type = MessageType(rawValue: typeName)
        guard queue.types.contains(type) else { return .failure(.unexpectedType) }
        guard isAddressed(delivery, type, to: queue) else { return .failure(.misrouted) }
        guard let version = integer(HeaderName.schemaVersion, properties), version > 0, version < 1_000 else {
            return .failure(.version)
        }
        guard textHeaders.allSatisfy({ isShortText(properties.headers[$0]) }) else { return .failure(.header) }
        let environment = text(HeaderName.environment, properties)
        if let environment, StoreEnvironment(rawValue: environment) == nil { return .failure(.environment) }
        let header = MessageHeader(
            id: MessageID(id.lowercased()), type: type, version: Int(version),
            occurredAt: integer(HeaderName.occurredAt, properties) ?? 0,
            correlationID: properties.correlationID ?? id,
            causationID: text(HeaderName.causationID, properties).map { MessageID($0) },
            app: text(HeaderName.app, properties).map { AppID($0) },
            environment: environment.flatMap { StoreEnvironment(rawValue: $0) }, replyTo: properties.replyTo,
            attempt: Int(min(max(0, integer(HeaderName.attempt, properties) ?? 0), highestAttempt)))
        return .success(Incoming(header: header, body: delivery.body, isRedelivered: delivery.isRedelivered))
    }

    /// Whether the exchange and key it came with lead from somebody who may say it to this queue. The broker checks rights
    /// for this key only: one that came here by a further key in its header `CC` shows another one.
    private static func isAddressed(_ delivery: Delivery, _ type: MessageType, to queue: Topology.Queue) -> Bool {
        let key = delivery.routingKey
        if delivery.exchange == Topology.returning {
            return Topology.RetryDelay.allCases.contains { $0.routingKey(for: queue.name) == key }
        }
        return key == type.rawValue && Topology.exchanges(saying: type).contains(delivery.exchange)
    }

    /// Attempts are counted no further: during an outage a message goes round for as long as it lasts, and a header that
    /// claims more must not overflow the next count.
    private static let highestAttempt: Int64 = 1_000_000

    /// Our headers that are texts.
    private static let textHeaders = [HeaderName.causationID, HeaderName.app, HeaderName.environment]
    /// Bytes of such a header at most, as of AMQP's own short texts: ids and names are shorter. All headers of a message
    /// travel in one frame of 128 KiB, and what is parked gets a few more: a message with too many could not be sent on.
    private static let longestTextHeader = 255

    private static func isShortText(_ value: AMQPHeaderValue?) -> Bool {
        guard let value else { return true }
        return value.stringValue.map { $0.utf8.count <= longestTextHeader } ?? false
    }

    /// Why a delivery is no message of its queue.
    package enum Malformed: String, Error {
        /// Its body says that it is no JSON.
        case contentType = "message.content_type_unknown"
        /// No id, or one that is no UUID.
        case id = "message.id_missing"
        /// No type.
        case type = "message.type_missing"
        /// A type that its queue does not take.
        case unexpectedType = "message.type_unexpected"
        /// Came by a way that its type has not.
        case misrouted = "message.misrouted"
        /// No schema version, or one that cannot be.
        case version = "message.version_unknown"
        /// Not one of Apple's two.
        case environment = "message.environment_unknown"
        /// One of our headers is no text, or too long.
        case header = "message.header_invalid"
    }

    /// A fact on its way to everybody. `replyTo` travels on only with facts that are a step of a request, not with
    /// those that observers keep.
    static func fact(_ fact: Fact, service: String, replyTo: String?) -> OutgoingMessage {
        let header = MessageHeader(
            id: fact.id, type: fact.type, version: fact.version, occurredAt: fact.occurredAt,
            correlationID: fact.correlationID, causationID: fact.cause, app: fact.app, environment: fact.environment,
            replyTo: Topology.streamedFacts.contains(fact.type) ? nil : replyTo)
        return message(
            header, body: fact.body, exchange: Topology.exchange(of: service), routingKey: fact.type.rawValue,
            service: service, isMandatory: !Topology.queues(accepting: fact.type).isEmpty)
    }

    /// A request of the user `service` on its way to whoever decides it.
    static func request(_ header: MessageHeader, body: [UInt8], service: String) -> OutgoingMessage {
        message(
            header, body: body, exchange: Topology.exchange(of: service), routingKey: header.type.rawValue,
            service: service, isMandatory: true)
    }

    /// An answer, if anybody waits for one. Transient, not mandatory, never holding back an acknowledgement.
    static func reply(_ reply: Reply, to incoming: MessageHeader, service: String, occurredAt: Int64)
        -> OutgoingMessage?
    {
        guard let replyTo = incoming.replyTo else { return nil }
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: reply.type, version: reply.version, occurredAt: occurredAt,
            correlationID: incoming.correlationID, causationID: incoming.id, app: incoming.app,
            environment: incoming.environment)
        var outgoing = message(
            header, body: reply.body, exchange: Topology.replies, routingKey: replyTo, service: service,
            isMandatory: false)
        outgoing.awaitsConfirm = false
        outgoing.properties.isPersistent = false
        return outgoing
    }

    /// What is told to whoever waits for an answer to a delivery that is no message.
    static func refusal(_ malformed: Malformed, of delivery: Delivery, service: String, occurredAt: Int64)
        -> OutgoingMessage?
    {
        guard let correlationID = delivery.properties.correlationID, let replyTo = delivery.properties.replyTo,
            let parked = try? Reply(RequestParked(reason: malformed.rawValue))
        else { return nil }
        let asked = MessageHeader(
            id: MessageID(delivery.properties.messageID ?? ""), type: .requestParked, version: 1, occurredAt: 0,
            correlationID: correlationID, replyTo: replyTo)
        return reply(parked, to: asked, service: service, occurredAt: occurredAt)
    }

    /// `delivery` on its way to `exchange` (retry or parking), with its reason and without the broker's own headers.
    package static func forward(
        _ delivery: Delivery, exchange: String, routingKey: String, reason: String, attempt: Int
    ) -> OutgoingMessage {
        var properties = delivery.properties
        let own = [
            HeaderName.schemaVersion, HeaderName.occurredAt, HeaderName.causationID, HeaderName.app,
            HeaderName.environment,
        ]
        properties.headers = properties.headers.filter { own.contains($0.key) && isShort($0.value) }
        properties.headers[HeaderName.attempt] = .int64(Int64(attempt))
        properties.headers[HeaderName.reason] = .string(reason)
        properties.headers[HeaderName.originalRoutingKey] = .string(delivery.routingKey)
        properties.isPersistent = true
        properties.expiration = nil
        return OutgoingMessage(
            exchange: exchange, routingKey: routingKey, isMandatory: true, awaitsConfirm: true,
            properties: properties, body: delivery.body)
    }

    /// Whether a header is of a kind and size that may travel on.
    private static func isShort(_ value: AMQPHeaderValue) -> Bool {
        value.int64Value != nil || (value.stringValue != nil && isShortText(value))
    }

    private static func message(
        _ header: MessageHeader, body: [UInt8], exchange: String, routingKey: String, service: String,
        isMandatory: Bool
    ) -> OutgoingMessage {
        var headers: [String: AMQPHeaderValue] = [
            HeaderName.schemaVersion: .int64(Int64(header.version)),
            HeaderName.occurredAt: .int64(header.occurredAt),
        ]
        if let cause = header.causationID { headers[HeaderName.causationID] = .string(cause.rawValue) }
        if let app = header.app { headers[HeaderName.app] = .string(app.rawValue) }
        if let environment = header.environment { headers[HeaderName.environment] = .string(environment.rawValue) }
        if header.attempt > 0 { headers[HeaderName.attempt] = .int64(Int64(header.attempt)) }
        let properties = MessageProperties(
            messageID: header.id.rawValue, type: header.type.rawValue, correlationID: header.correlationID,
            replyTo: header.replyTo, contentType: "application/json", appID: "purser-\(service)",
            timestamp: header.occurredAt / 1_000, expiration: nil, isPersistent: true, headers: headers)
        return OutgoingMessage(
            exchange: exchange, routingKey: routingKey, isMandatory: isMandatory, awaitsConfirm: true,
            properties: properties, body: body)
    }

    private static func integer(_ name: String, _ properties: MessageProperties) -> Int64? {
        properties.headers[name]?.int64Value
    }

    private static func text(_ name: String, _ properties: MessageProperties) -> String? {
        properties.headers[name]?.stringValue
    }
}
