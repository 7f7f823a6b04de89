/// Puts frames together to events: a delivery or a return is a method, a header and as many body frames as its size
/// needs. Pure: no socket, no clock.
struct FramePump {
    /// What the connection's owner has to know.
    enum Event: Sendable, Equatable {
        case delivery(Delivery)
        case returned(ReturnedMessage)
        case acknowledged(tag: UInt64, isMultiple: Bool)
        case rejected(tag: UInt64, isMultiple: Bool)
        case consumerCancelled(consumerTag: String)
        case blocked
        case unblocked
        case channelClose(code: Int, text: String)
        case connectionClose(code: Int, text: String)
        case reply(Reply)
    }

    /// A mandatory message that came back.
    struct ReturnedMessage: Sendable, Equatable {
        var code: Int
        var text: String
        var exchange: String
        var routingKey: String
        var messageID: String?
    }

    /// A body beyond this is refused: it is several times what the broker is configured to take (`max_message_size`), so
    /// only a broker that is not ours sends it, and memory stays bounded.
    static let bodyLimit: UInt64 = 16 << 20

    /// The content that is being received.
    private struct Content {
        var method: Method
        var size: UInt64?
        var properties = MessageProperties()
        var body: [UInt8] = []
    }

    private var content: Content?

    /// Takes the next frame; answers what is complete with it.
    mutating func accept(_ frame: Frame) throws(AMQPError) -> Event? {
        switch frame {
        case .method(let method): try accept(method)
        case .header(let size, let properties): try acceptHeader(size: size, properties)
        case .body(let bytes): try acceptBody(bytes)
        }
    }

    private mutating func accept(_ method: Method) throws(AMQPError) -> Event? {
        // Methods of the connection and the end of the channel may come amid content; nothing else may.
        switch method {
        case .blocked: return .blocked
        case .unblocked: return .unblocked
        case .connectionClose(let code, let text): return .connectionClose(code: code, text: text)
        case .reply(.connectionClosed): return .reply(.connectionClosed)
        case .channelClose(let code, let text):
            content = nil
            return .channelClose(code: code, text: text)
        default: break
        }
        guard content == nil else { throw .protocolViolation(reason: "a method came amid the content of a message") }
        switch method {
        case .deliver, .returned:
            content = Content(method: method)
            return nil
        case .acknowledged(let tag, let isMultiple): return .acknowledged(tag: tag, isMultiple: isMultiple)
        case .rejected(let tag, let isMultiple): return .rejected(tag: tag, isMultiple: isMultiple)
        case .consumerCancelled(let tag): return .consumerCancelled(consumerTag: tag)
        case .reply(let reply): return .reply(reply)
        default: throw .protocolViolation(reason: "a method came that was not asked for")
        }
    }

    private mutating func acceptHeader(size: UInt64, _ properties: MessageProperties) throws(AMQPError) -> Event? {
        guard content != nil, content?.size == nil else {
            throw .protocolViolation(reason: "a content header came out of place")
        }
        guard size <= Self.bodyLimit else { throw .protocolViolation(reason: "a message is larger than 16 MiB") }
        content?.size = size
        content?.properties = properties
        content?.body.reserveCapacity(Int(size))
        return finishIfComplete()
    }

    private mutating func acceptBody(_ bytes: [UInt8]) throws(AMQPError) -> Event? {
        guard let size = content?.size, let received = content?.body.count else {
            throw .protocolViolation(reason: "a content body came out of place")
        }
        guard UInt64(received + bytes.count) <= size else {
            throw .protocolViolation(reason: "a content body is longer than its header says")
        }
        // The usual message is one frame: its bytes are taken over, not copied.
        if received == 0 { content?.body = bytes } else { content?.body.append(contentsOf: bytes) }
        return finishIfComplete()
    }

    private mutating func finishIfComplete() -> Event? {
        guard let finished = content, UInt64(finished.body.count) == finished.size else { return nil }
        content = nil
        switch finished.method {
        case .deliver(let tag, let isRedelivered, let exchange, let routingKey):
            return .delivery(
                Delivery(
                    tag: tag, exchange: exchange, routingKey: routingKey, isRedelivered: isRedelivered,
                    properties: finished.properties, body: finished.body))
        case .returned(let code, let text, let exchange, let routingKey):
            return .returned(
                ReturnedMessage(
                    code: code, text: text, exchange: exchange, routingKey: routingKey,
                    messageID: finished.properties.messageID))
        default: return nil
        }
    }
}
