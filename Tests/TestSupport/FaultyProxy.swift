import Glibc
import Runtime
import Synchronization

/// A TCP proxy on the loopback address that can go wrong on command: between a service and its broker or database.
///
/// Own threads: one accepts, one for each connection carries bytes both ways.
public final class FaultyProxy: Sendable {
    /// Who sent the bytes.
    public enum Sender: Sendable, Equatable {
        /// The one that connected to the proxy.
        case client
        /// The one the proxy connected to.
        case server
    }

    /// When a connection is cut after its bytes were seen.
    public enum Moment: Sendable, Equatable {
        /// Before the bytes are passed on: the receiver never gets them.
        case beforeForwarding
        /// They are passed on, and the connection is cut when the receiver answers; the answer is lost. The receiver has
        /// certainly acted, the sender certainly does not know: an ambiguous commit or publish.
        case whenAnswered
    }

    struct Trigger: Sendable {
        var pattern: [UInt8]
        var sender: Sender
        var moment: Moment
    }

    struct State: Sendable {
        var isStalled = false
        var isRefusing = false
        var delay: Duration = .zero
        /// Whose bytes wait; nil: everybody's.
        var delayed: Sender?
        var trigger: Trigger?
        var triggered = 0
        var accepted = 0
        /// Connections opened in an earlier epoch are to be cut.
        var epoch = 0
        var isClosed = false
    }

    /// The port clients connect to, on 127.0.0.1.
    public let port: Int
    private let listener: Int32
    private let target: (host: String, port: Int)
    let state = Mutex(State())

    /// Starts a proxy in front of `host`:`port` (an IPv4 address).
    public init(host: String = "127.0.0.1", port targetPort: Int) throws {
        let (listener, port) = try Socket.listen()
        self.listener = listener
        self.port = port
        self.target = (host == "localhost" ? "127.0.0.1" : host, targetPort)
        NamedThread.start(name: "proxy-accept") { [self] in acceptAll() }
    }

    /// Passes bytes again and accepts connections again; forgets delays and triggers.
    public func pass() {
        state.withLock {
            $0.isStalled = false
            $0.isRefusing = false
            $0.delay = .zero
            $0.trigger = nil
        }
    }

    /// Half-open: connections stay, nothing passes any more in either direction.
    public func stall() { state.withLock { $0.isStalled = true } }

    /// New connections are closed at once, as if the server were down.
    public func refuse() { state.withLock { $0.isRefusing = true } }

    /// Every chunk waits this long before it is passed on; those of one sender only, if it is given.
    public func delay(_ duration: Duration, from sender: Sender? = nil) {
        state.withLock {
            $0.delay = duration
            $0.delayed = sender
        }
    }

    /// Cuts every connection that is open now, both sides at once, with RST. New ones are served.
    public func cut() { state.withLock { $0.epoch += 1 } }

    /// Cuts the connection on which `sender` next sends `pattern`, once.
    public func cut(whenSeen pattern: [UInt8], from sender: Sender, _ moment: Moment = .whenAnswered) {
        state.withLock { $0.trigger = Trigger(pattern: pattern, sender: sender, moment: moment) }
    }

    /// Cuts the connection on which `sender` next sends this text, once.
    public func cut(whenSeen text: String, from sender: Sender, _ moment: Moment = .whenAnswered) {
        cut(whenSeen: Array(text.utf8), from: sender, moment)
    }

    /// How often a trigger has cut a connection.
    public var triggeredCuts: Int { state.withLock { $0.triggered } }

    /// How many connections were accepted so far.
    public var acceptedConnections: Int { state.withLock { $0.accepted } }

    /// Ends the proxy and cuts everything.
    public func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        if !wasClosed { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    private func acceptAll() {
        defer { Glibc.close(listener) }
        while true {
            let client = accept(listener, nil, nil)
            if client < 0 {
                if errno == EINTR { continue }
                return
            }
            let (isClosed, isRefusing, epoch) = state.withLock { state in
                state.accepted += 1
                return (state.isClosed, state.isRefusing, state.epoch)
            }
            guard !isClosed, !isRefusing, let server = Socket.connect(host: target.host, port: target.port) else {
                Socket.reset(client)
                continue
            }
            for side in [client, server] { Socket.sendAtOnce(side) }
            NamedThread.start(name: "proxy-carry") { [self] in
                var carrier = ProxyCarrier(proxy: self, client: client, server: server, epoch: epoch)
                carrier.run()
            }
        }
    }
}
