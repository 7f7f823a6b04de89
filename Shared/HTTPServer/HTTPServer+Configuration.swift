extension HTTPServer {
    /// What some requests may take at a time.
    public struct Share: Sendable, Equatable {
        /// Requests between their head and the end of their answer.
        public var requests: Int
        /// Body bytes announced by all of them.
        public var bodyBytes: Int
        /// Of them by one client (one /64 for IPv6), so that few that send slowly cannot use up all; more are refused with
        /// 429. Nil = no limit.
        public var bodyBytesPerAddress: Int?

        /// A share.
        public init(requests: Int, bodyBytes: Int, bodyBytesPerAddress: Int? = nil) {
            self.requests = requests
            self.bodyBytes = bodyBytes
            self.bodyBytesPerAddress = bodyBytesPerAddress
        }
    }

    /// Paths with a share of their own.
    public struct Apart: Sendable {
        /// Whether a path is one of them. Called on event loops: it must not block.
        public var isMember: @Sendable (_ path: String) -> Bool
        /// What their requests may take.
        public var share: Share

        /// Gives `share` to the paths of which `isMember` is true.
        public init(_ share: Share, isMember: @escaping @Sendable (_ path: String) -> Bool) {
            self.share = share
            self.isMember = isMember
        }
    }

    /// How a server listens and what it refuses.
    public struct Configuration: Sendable {
        /// A numeric address; loopback unless told otherwise, TLS and the internet being the edge proxy's.
        public var address: String = "127.0.0.1"
        /// The port; 0 takes a free one, see `HTTPServer.port`.
        public var port: UInt16 = 0
        /// Event loops, each a thread. One moves 40,000 small requests a second, so one is the default.
        public var threads: Int = 1
        /// Open connections; more wait in the kernel's backlog. 1,024 cost at most 48 MiB of buffers.
        public var maximumConnections: Int = 1_024
        /// Open connections of one address (of one /64 for IPv6), 0 = no limit; the gatekeeper may know exceptions.
        public var maximumConnectionsPerAddress: Int = 128
        /// Requests between their head and the end of their answer; more are refused with 503 before their body is
        /// read.
        public var maximumInFlight: Int = 512
        /// The same for one client (one /64 for IPv6); more are refused with 429. 0 = no limit.
        public var maximumInFlightPerAddress: Int = 0
        /// Body bytes announced by all requests in flight; more are refused with 503. 32 MiB leave a 64 MiB process
        /// room for copies.
        public var maximumBodyBytesInFlight: Int = 32 << 20
        /// What has a share of its own and takes nothing of the two limits above: so no kind of caller can crowd out
        /// another. The first that a path belongs to counts.
        public var apart: [Apart] = []
        /// Bytes of request line and header fields; larger heads get 431. Reading them never needs a second buffer.
        public var headerLimit: Int = 16 << 10
        /// Header fields; more get 431. Browsers and proxies send fewer than 40.
        public var headerFieldLimit: Int = 100
        /// From the start of a connection, or the end of the previous answer, to the end of the next head. Also the
        /// longest an idle connection is kept.
        public var headDeadline: Duration = .seconds(15)
        /// From the end of the head to the end of the body, however steadily bytes trickle in; 408 then.
        public var bodyDeadline: Duration = .seconds(10)
        /// From the answer to its last byte being taken by the client.
        public var answerDeadline: Duration = .seconds(30)
        /// How long a 429 is held back before it is told, see `HeldAnswers`; zero tells it at once. A second makes the 128
        /// connections of one address cost 128 short answers a second.
        public var refusalDelay: Duration = .seconds(1)
        /// Decides who is let in at all.
        public var gatekeeper: any Gatekeeper = OpenGate()
        /// Makes the answer to a request that the server itself refuses. Called on the event loop: it must not block.
        public var errorResponse: @Sendable (HTTPFailure) -> HTTPResponse = { $0.plainResponse }

        /// The defaults.
        public init() {}

        func validate() throws(HTTPServerError) {
            let positive: [(String, Int)] = [
                ("threads", threads), ("maximumConnections", maximumConnections), ("maximumInFlight", maximumInFlight),
                ("headerFieldLimit", headerFieldLimit),
            ]
            for (name, value) in positive where !(1...1_000_000).contains(value) {
                throw .invalidSetting(name)
            }
            for (name, value) in [
                ("maximumConnectionsPerAddress", maximumConnectionsPerAddress),
                ("maximumInFlightPerAddress", maximumInFlightPerAddress),
            ] where !(0...1_000_000).contains(value) {
                throw .invalidSetting(name)
            }
            guard maximumBodyBytesInFlight >= 0 else { throw .invalidSetting("maximumBodyBytesInFlight") }
            for share in apart.map(\.share) {
                guard (1...1_000_000).contains(share.requests) else { throw .invalidSetting("apart.requests") }
                guard share.bodyBytes >= 0 else { throw .invalidSetting("apart.bodyBytes") }
            }
            guard (1...HTTPServer.largestHeaderLimit).contains(headerLimit) else {
                throw .invalidSetting("headerLimit")
            }
            let deadlines = [
                ("headDeadline", headDeadline), ("bodyDeadline", bodyDeadline), ("answerDeadline", answerDeadline),
            ]
            guard refusalDelay >= .zero, refusalDelay <= .seconds(60) else { throw .invalidSetting("refusalDelay") }
            for (name, value) in deadlines where value <= .zero || value > .seconds(3_600) {
                throw .invalidSetting(name)
            }
        }
    }
}
