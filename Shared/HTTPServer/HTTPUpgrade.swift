/// What becomes of a connection after the answer 101 (RFC 9110 §7.8).
public struct HTTPUpgrade: Sendable {
    /// Called once, on an event loop, when the answer was sent: it must not block. If the client goes away before, it is
    /// dropped without a call.
    public let take: @Sendable (UpgradedSocket) -> Void

    /// Hands the socket to `take`.
    public init(take: @escaping @Sendable (UpgradedSocket) -> Void) { self.take = take }
}

/// A socket that speaks another protocol from now on.
///
/// It counts no more among the server's connections: their number, deadlines and buffers are its new owner's matter.
public struct UpgradedSocket: Sendable {
    /// The descriptor, which does not block; the receiver must close it.
    public let descriptor: Int32
    /// What the client had sent already behind its request.
    public let received: [UInt8]

    /// A socket that does not block.
    public init(descriptor: Int32, received: [UInt8]) {
        self.descriptor = descriptor
        self.received = received
    }
}
