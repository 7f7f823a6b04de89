import HTTPServer

/// Keeps what one address may do, before a body is read or a token looked at.
///
/// Called on event loops; nothing in it blocks. Who is limited is the client: the peer, or whom a trusted proxy names. The
/// limit of connections counts peers, and no trusted proxy, which is one address for many clients.
struct ClientGate: Gatekeeper {
    private let trustedProxies: AddressList
    private let unlimited: AddressList
    private let requests: AddressLimits
    /// As many connections as requests: nobody needs more.
    private let connections: RateLimiter?
    private let limited: @Sendable (Limit) -> Void
    private let refuse: @Sendable (Limit, _ retryAfter: Duration) -> HTTPResponse

    /// A gate.
    /// - Parameters:
    ///   - requests: how many of them one address may send, by path.
    ///   - limited: is told what was refused without an answer.
    ///   - refuse: counts a refused request and makes the answer.
    init(
        _ settings: LimitSettings, requests: AddressLimits? = nil, limited: @escaping @Sendable (Limit) -> Void,
        refuse: @escaping @Sendable (Limit, _ retryAfter: Duration) -> HTTPResponse
    ) {
        trustedProxies = settings.trustedProxies
        unlimited = settings.unlimitedAddresses
        self.requests = requests ?? AddressLimits(settings)
        connections = .ifLimited(perSecond: settings.addressRate, burst: settings.addressBurst)
        self.limited = limited
        self.refuse = refuse
    }

    func admitsConnection(from peer: IPAddress, open: Int, limit: Int) -> Bool {
        guard !trustedProxies.contains(peer), !unlimited.contains(peer) else { return true }
        if limit == 0 || open < limit, connections?.take(BucketKey(peer)) ?? .admitted == .admitted { return true }
        limited(.addressConnections)
        return false
    }

    func judge(_ head: HTTPRequest, from peer: IPAddress) -> Admittance {
        let client = ForwardedFor.client(
            peer: peer, values: head.headerValues(ForwardedFor.field), trusted: trustedProxies)
        guard !unlimited.contains(client) else { return .admitted(client: client, isLimited: false) }
        switch requests.take(client, path: head.path) {
        case .admitted: return .admitted(client: client, isLimited: true)
        case .refused(let retryAfter): return .refused(refuse(.addressRate, retryAfter))
        }
    }

    func answersUnreadableHead(from peer: IPAddress) -> Bool {
        guard !trustedProxies.contains(peer), !unlimited.contains(peer) else { return true }
        if requests.take(peer, path: nil) == .admitted { return true }
        limited(.addressRate)
        return false
    }
}
