public import Messages

/// What a handler decided about one message. Business results are values; a thrown error is an outage or a bug.
public enum Outcome: Sendable {
    /// Handled: state is written in the handler's transaction; the lane stores `facts` in the same transaction,
    /// publishes them after the commit, sends `reply` to whoever waits, and acknowledges the message.
    case done(facts: [Fact], reply: Reply?)
    /// Not now: the lane sends the message through the retry ladder and acknowledges it. After 12 attempts it is
    /// parked, unless `isOutage`: then it stays on the one-hour step until the outage ends. What became true all the
    /// same is stored and told as with ``done(facts:reply:)``.
    case retry(after: Topology.RetryDelay, reason: String, isOutage: Bool, reply: Reply?, facts: [Fact] = [])
    /// Never: the lane moves the message to the parking queue with the (stable, payload-free) reason and tells
    /// whoever waits.
    case park(reason: String)

    /// The same with more to tell. What is parked tells nothing.
    public func telling(_ more: [Fact]) -> Outcome {
        if more.isEmpty { return self }
        switch self {
        case .done(let facts, let reply): return .done(facts: facts + more, reply: reply)
        case .retry(let delay, let reason, let isOutage, let reply, let facts):
            return .retry(after: delay, reason: reason, isOutage: isOutage, reply: reply, facts: facts + more)
        case .park: return self
        }
    }
}

/// An answer to whoever waits at the message's reply-to. Losing one is harmless: the truth is in the database.
public struct Reply: Sendable, Equatable {
    /// What kind of answer.
    public let type: MessageType
    /// Schema version.
    public let version: Int
    /// JSON.
    public let body: [UInt8]

    /// Encodes `message`.
    public init<M: Message>(_ message: M) throws {
        type = M.type
        version = M.version
        body = try MessageCoding.encode(message)
    }
}
