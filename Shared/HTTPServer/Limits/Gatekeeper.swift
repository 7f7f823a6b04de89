/// Decides who may connect and whose requests are read, before anything is spent on them.
///
/// Called on event loops: nothing of it may block. The defaults refuse only
/// connections above the configured limit.
public protocol Gatekeeper: Sendable {
    /// Whether a new connection is let in; it is closed at once otherwise.
    /// - Parameters:
    ///   - peer: who connects.
    ///   - open: connections that the peer (for IPv6: its /64) has already.
    ///   - limit: how many it may have by the server's configuration; 0 = no limit.
    func admitsConnection(from peer: IPAddress, open: Int, limit: Int) -> Bool

    /// Judges a request by its head; its body is not read yet.
    func judge(_ head: HTTPRequest, from peer: IPAddress) -> Admittance

    /// Whether a head that cannot be read is worth an answer; the connection is closed either way.
    func answersUnreadableHead(from peer: IPAddress) -> Bool
}

/// What a ``Gatekeeper`` says to a request.
public enum Admittance: Sendable {
    /// It is read and handled.
    /// - Parameters:
    ///   - client: who is behind the peer; the peer itself if there is no proxy.
    ///   - isLimited: whether `maximumInFlightPerAddress` counts for this client.
    case admitted(client: IPAddress, isLimited: Bool)
    /// It gets this answer; its body is thrown away.
    case refused(HTTPResponse)
}

extension Gatekeeper {
    /// Keeps the limit, no more.
    public func admitsConnection(from peer: IPAddress, open: Int, limit: Int) -> Bool { limit == 0 || open < limit }

    /// The peer is the client, and may ask.
    public func judge(_ head: HTTPRequest, from peer: IPAddress) -> Admittance {
        .admitted(client: peer, isLimited: true)
    }

    /// Every mistake is answered.
    public func answersUnreadableHead(from peer: IPAddress) -> Bool { true }
}

/// Lets everybody in, within the server's own limits.
struct OpenGate: Gatekeeper {}
