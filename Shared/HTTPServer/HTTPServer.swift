import CMicroHTTPD
import Glibc
import Runtime
import Synchronization

/// An HTTP/1.1 server on libmicrohttpd: epoll event loops, a Swift task a request, one handler for everything.
///
/// A head is read and judged on an event loop; ambiguous, oversized and surplus requests are refused before their body
/// is read. When the body is complete the connection sleeps and a task runs the handler; its answer wakes the
/// connection. Handlers must not block: they run on Swift's cooperative pool.
public final class HTTPServer: Sendable {
    /// The port it listens on.
    public let port: UInt16
    private let core: ServerCore
    private let daemon: Mutex<MHDHandle?>
    private let stopWatching = StopSignal()
    private let watcher: NamedThread

    /// The largest `headerLimit`: half of a connection's memory less one read step, so that a head never moves while
    /// it is read.
    static let largestHeaderLimit = 20 << 10
    /// Memory of one connection: half of it is the read buffer, the rest holds field records and the answer's head.
    private static let connectionMemory = 48 << 10
    /// How often deadlines are looked at; they are late by at most this.
    private static let watchInterval = Duration.milliseconds(100)
    /// How long the refusals that a stop hands out may take to reach their clients.
    private static let farewell = Duration.seconds(1)

    private init(core: ServerCore, daemon: MHDHandle) {
        self.core = core
        self.daemon = Mutex(daemon)
        port = purser_mhd_port(daemon.pointer)
        let stop = stopWatching
        watcher = NamedThread.start(name: "http-deadlines") {
            while !stop.wait(for: Self.watchInterval) {
                core.watch.closeOverdue {
                    ResponseComposer.bytes(core.configuration.errorResponse(.bodyTimeout))
                }
                core.held.release(at: .now)
            }
        }
    }

    deinit {
        stop(grace: .zero)
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - configuration: address, limits and deadlines.
    ///   - bodyLimit: the longest body of a route in bytes; called on an event loop before a body is read.
    ///   - handler: answers every accepted request, on a task of its own. If its client has gone away the answer is
    ///     dropped.
    /// - Throws: `HTTPServerError` if a setting is invalid or the system refuses to listen.
    public static func start(
        _ configuration: Configuration, bodyLimit: @escaping @Sendable (_ method: String, _ path: String) -> Int,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(HTTPServerError) -> HTTPServer {
        try configuration.validate()
        let core = ServerCore(configuration: configuration, bodyLimit: bodyLimit, handler: handler)
        let silence = max(configuration.headDeadline, configuration.bodyDeadline, configuration.answerDeadline)
        let started: OpaquePointer?? = SocketAddress.with(configuration.address, port: configuration.port) {
            var settings = purser_mhd_settings()
            settings.address = $0
            settings.is_ipv6 = $1 ? 1 : 0
            settings.threads = UInt32(configuration.threads)
            settings.connection_limit = UInt32(configuration.maximumConnections)
            // A second net behind the watch: it ends silent connections should the watch's thread be late.
            settings.timeout_seconds = UInt32(silence.components.seconds) * 2 + 1
            settings.connection_memory = connectionMemory
            settings.context = Unmanaged.passUnretained(core).toOpaque()
            settings.accept = ServerCallbacks.accept
            settings.access = ServerCallbacks.access
            settings.completed = ServerCallbacks.completed
            settings.connection = ServerCallbacks.connection
            settings.target = ServerCallbacks.target
            errno = 0
            return purser_mhd_start(&settings)
        }
        guard let started else { throw .invalidAddress(configuration.address) }
        guard let daemon = started else { throw .cannotListen(port: configuration.port, errno: errno) }
        return HTTPServer(core: core, daemon: MHDHandle(pointer: daemon))
    }

    /// The number of requests between their head and the end of their answer.
    public var requestsInFlight: Int { core.admission.inFlight }

    /// Body bytes that the requests in flight have announced.
    public var bodyBytesInFlight: Int { core.admission.bodyBytesInFlight }

    /// The number of open connections.
    public var openConnections: Int { core.watch.count }

    /// Stops: no new connections, 503 for new requests, up to `grace` for those in flight, 503 for those that are
    /// still unanswered then, and closes everything. Blocks; call it from an own thread. Calling it again does nothing.
    ///
    /// Handlers that are still running afterwards finish, their answers are dropped.
    public func stop(grace: Duration) {
        guard let daemon = daemon.withLock({ $0.take() }) else { return }
        core.admission.drain()
        core.held.close()
        let listening = MHD_quiesce_daemon(daemon.pointer)
        if listening >= 0 { close(listening) }
        if !core.admission.drained.wait(for: grace) {
            for exchange in core.admission.remaining() {
                exchange.answer(core.configuration.errorResponse(.stopping))
            }
            _ = core.admission.drained.wait(for: Self.farewell)
        }
        wakeAll()
        stopWatching.stop()
        watcher.join()
        MHD_stop_daemon(daemon.pointer)
    }

    /// libmicrohttpd aborts the process if a connection sleeps while its daemon stops. A body that completed during
    /// the farewell may just have put one to sleep.
    private func wakeAll() {
        for exchange in core.admission.remaining() {
            exchange.answer(core.configuration.errorResponse(.stopping))
        }
    }
}
