/// What peers may do. Every limit protects the others: a socket costs nothing to open.
public struct WebSocketLimits: Sendable {
    /// Bytes of a message, all fragments together.
    public var maximumMessageBytes = 1_500_000
    /// Frames of a message; honest clients send one, proxies split into few.
    public var maximumFragments = 64
    /// Bytes of messages of all connections together that are being received or answered: what is more is told to come
    /// again later.
    public var maximumBufferedBytes = 32 << 20
    /// Bytes that wait for one peer to read them.
    public var maximumQueuedBytes = 256 << 10
    /// Open sockets.
    public var maximumConnections = 4_096
    /// Open sockets of one address (of one /64 for IPv6). Networks of mobile phones put many behind one.
    public var maximumConnectionsPerAddress = 64
    /// After so much silence a peer is asked whether it is there.
    public var pingAfter = Duration.seconds(30)
    /// And so long it may take to answer: any whole frame counts, single bytes do not.
    public var pongWithin = Duration.seconds(15)
    /// From the first frame of a message to its end.
    public var messageDeadline = Duration.seconds(15)
    /// How long something may wait to be read by the peer.
    public var writeDeadline = Duration.seconds(10)
    /// How long after our close frame the peer may take to close.
    public var closeDeadline = Duration.seconds(2)
    /// Bytes read of one socket before the others have their turn.
    public var bytesPerTurn = 64 << 10

    /// The values the system uses.
    public init() {}
}
