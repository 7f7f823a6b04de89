/// What becomes of a message.
public enum WebSocketAnswer: Sendable, Equatable {
    /// This binary message is sent back.
    case message([UInt8])
    /// The socket is closed.
    case close(WebSocketCloseCode, reason: String)
}

/// Why a socket is closed (RFC 6455 §7.4).
public enum WebSocketCloseCode: UInt16, Sendable, CaseIterable {
    /// The other side wanted it.
    case normal = 1_000
    /// The server stops.
    case goingAway = 1_001
    /// What came is no WebSocket.
    case protocolError = 1_002
    /// Text instead of binary messages.
    case unsupportedData = 1_003
    /// Something that is not allowed here.
    case policyViolation = 1_008
    /// The message is too long.
    case messageTooBig = 1_009
    /// Something failed here.
    case internalError = 1_011
    /// Come again later.
    case tryAgainLater = 1_013
    // Of the range for applications, by the numbers of HTTP.
    /// The message is none of the protocol's.
    case malformedMessage = 4_400
    /// The login token has expired, or is not accepted any more.
    case loginExpired = 4_401
    /// The message is of a kind that nobody answers here.
    case unknownMessage = 4_404
}
