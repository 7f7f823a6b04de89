public import Messages

/// A message as a handler sees it: header and body, nothing of AMQP.
public struct Incoming: Sendable {
    /// Everything about the message that is not its content.
    public let header: MessageHeader
    /// The JSON body.
    public let body: [UInt8]
    /// Whether the broker delivered it before (perhaps to a process that died with it).
    public let isRedelivered: Bool

    /// Composes a message; lanes do, and tests of handlers.
    public init(header: MessageHeader, body: [UInt8], isRedelivered: Bool) {
        self.header = header
        self.body = body
        self.isRedelivered = isRedelivered
    }

    /// The same after a commit whose reply was lost: it may have left its traces, as if it had been delivered before.
    var again: Incoming { Incoming(header: header, body: body, isRedelivered: true) }

    /// The body as `type`, or nil when it cannot be read as one: the handler then answers
    /// ``Outcome/park(reason:)`` with ``unreadable``.
    public func read<M: Message>(_ type: M.Type) -> M? {
        guard M.isBody(of: header.type), header.version == M.version else { return nil }
        return try? MessageCoding.decode(type, from: body)
    }

    /// The stable reason for parking a message whose body cannot be read.
    public static let unreadable = "message.body_unreadable"
}
