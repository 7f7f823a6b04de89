import AMQP
public import Messages

/// A fact or an answer as somebody outside received it.
public struct Told: Sendable {
    /// The message's id.
    public let id: MessageID
    /// What kind of message.
    public let type: MessageType
    /// The message that caused it.
    public let cause: MessageID
    /// JSON.
    public let body: [UInt8]

    init(_ delivery: Delivery) {
        id = MessageID(delivery.properties.messageID ?? "")
        type = MessageType(rawValue: delivery.properties.type ?? "")
        cause = MessageID(delivery.properties.headers[HeaderName.causationID]?.stringValue ?? "")
        body = delivery.body
    }

    /// The body, if it is of this type; nil if the message is of another.
    public func read<M: Message>(_ type: M.Type) throws -> M? {
        self.type == M.type ? try MessageCoding.decode(type, from: body) : nil
    }
}

extension [Told] {
    /// The distinct ids under which facts of a type were told, by the message that caused them.
    public func identifiers(of type: MessageType) -> [MessageID: Set<MessageID>] {
        filter { $0.type == type }.reduce(into: [:]) { $0[$1.cause, default: []].insert($1.id) }
    }

    /// Every answer of a type, by the message it answers.
    public func answers<M: Message>(_ type: M.Type) throws -> [MessageID: [M]] {
        try reduce(into: [:]) { answers, told in
            if let answer = try told.read(type) { answers[told.cause, default: []].append(answer) }
        }
    }
}
