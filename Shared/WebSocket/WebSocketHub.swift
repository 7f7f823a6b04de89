import CWslay
import Glibc
public import HTTPServer
import Runtime
import Synchronization

/// All WebSockets of a server: one thread that reads, writes and waits for thousands of them.
///
/// A request becomes a socket by ``response(to:expiresAt:handler:)``. Its messages are given to the handler one after
/// another: the next is not even read before the answer is on its way, so answers come in the order of the questions,
/// and a peer that sends faster than it is served fills its own buffers only. Handlers run on Swift's cooperative pool.
public final class WebSocketHub: Sendable {
    /// Answers one binary message.
    public typealias Handler = @Sendable ([UInt8]) async -> WebSocketAnswer

    private let places: WebSocketPlaces
    private let inbox: WebSocketInbox
    private let thread: NamedThread

    private init(_ limits: WebSocketLimits, _ inbox: WebSocketInbox) {
        places = WebSocketPlaces(limits)
        self.inbox = inbox
        thread = NamedThread.start(name: "websockets") {
            var loop = WebSocketLoop(limits, inbox)
            loop.run()
        }
    }

    deinit {
        inbox.post(.stop(deadline: .now))
        thread.join()
    }

    /// Starts the thread; nil if the system has no descriptors left.
    public static func start(_ limits: WebSocketLimits = WebSocketLimits()) -> WebSocketHub? {
        WebSocketInbox.open().map { WebSocketHub(limits, $0) }
    }

    /// Open sockets, and handshakes under way.
    public var count: Int { places.count }

    /// The answer that makes a socket of this request.
    ///
    /// - Parameters:
    ///   - expiresAt: when the socket is closed as ``WebSocketCloseCode/loginExpired``; nil is never.
    ///   - handler: answers its messages.
    /// - Throws: why it becomes none; nothing is kept then.
    public func response(
        to request: HTTPRequest, expiresAt: ContinuousClock.Instant?, handler: @escaping Handler
    ) throws(WebSocketRefusal) -> HTTPResponse {
        let fields = try WebSocketHandshake.accept(request)
        let place = try places.take(request.client)
        let inbox = inbox
        var response = HTTPResponse(status: 101, headers: fields)
        response.upgrade = HTTPUpgrade { socket in
            inbox.post(
                .adopt(NewWebSocket(socket: socket, place: place, expiresAt: expiresAt, handler: handler)))
        }
        return response
    }

    /// Tells every peer that the server goes away, those whose message is being answered after their answer; waits up to
    /// `grace` for them to close, and ends the thread. Blocks; call it from an own thread. Again: nothing.
    public func stop(grace: Duration) {
        inbox.post(.stop(deadline: .now + grace))
        thread.join()
    }
}

/// A socket whose handshake is done.
struct NewWebSocket: Sendable {
    let socket: UpgradedSocket
    let place: WebSocketPlace?
    let expiresAt: ContinuousClock.Instant?
    let handler: WebSocketHub.Handler
}

/// What other threads tell the loop.
enum WebSocketCommand: Sendable {
    case adopt(NewWebSocket)
    case answered(key: UInt64, WebSocketAnswer)
    case stop(deadline: ContinuousClock.Instant)
}

/// The way into the loop's thread.
final class WebSocketInbox: Sendable {
    private struct State {
        var commands: [WebSocketCommand] = []
        var isClosed = false
    }

    /// Becomes readable when something was posted.
    let descriptor: Int32
    private let state = Mutex(State())

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    static func open() -> WebSocketInbox? {
        let descriptor = purser_wakeup_open()
        return descriptor >= 0 ? WebSocketInbox(descriptor: descriptor) : nil
    }

    /// Any thread. After the loop's end new sockets are closed and everything else is dropped.
    func post(_ command: WebSocketCommand) {
        let isTaken = state.withLock {
            if !$0.isClosed { $0.commands.append(command) }
            return !$0.isClosed
        }
        if isTaken {
            var one: UInt64 = 1
            _ = write(descriptor, &one, 8)
        } else if case .adopt(let new) = command {
            close(new.socket.descriptor)
        }
    }

    /// Everything posted since the last call.
    func take() -> [WebSocketCommand] {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
        return state.withLock {
            let taken = $0.commands
            $0.commands = []
            return taken
        }
    }

    /// Nobody takes anything any more.
    func shut() {
        let left = state.withLock {
            $0.isClosed = true
            let left = $0.commands
            $0.commands = []
            return left
        }
        for case .adopt(let new) in left { close(new.socket.descriptor) }
    }
}
