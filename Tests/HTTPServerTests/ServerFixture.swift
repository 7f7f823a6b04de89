import HTTPServer
import Synchronization

/// A server that echoes method, path and body, counts what it handled, and lets tests hold answers back at `/wait`.
final class ServerFixture: Sendable {
    let server: HTTPServer
    let gate = Gate()
    private let paths: Recorder

    /// Opened once; everybody who waits is let through, as is everybody who comes later.
    final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }
        private let state = Mutex(State())

        var waiting: Int { state.withLock { $0.waiting.count } }

        func wait() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock {
                    if !$0.isOpen { $0.waiting.append(continuation) }
                    return $0.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let waiting = state.withLock {
                $0.isOpen = true
                let waiting = $0.waiting
                $0.waiting = []
                return waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    final class Recorder: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    init(bodyLimit: Int = 1_024, _ adjust: (inout HTTPServer.Configuration) -> Void = { _ in }) throws {
        var configuration = HTTPServer.Configuration()
        adjust(&configuration)
        let gate = gate
        let paths = Recorder()
        self.paths = paths
        server = try HTTPServer.start(
            configuration, bodyLimit: { _, path in path == "/large" ? 8 << 20 : bodyLimit },
            handler: { request in
                paths.add("\(request.method) \(request.path)")
                switch request.path {
                case "/wait": await gate.wait()
                case "/bad-header": return HTTPResponse(status: 200, headers: [("X", "a\r\nSet-Cookie: b")])
                case "/bad-status": return HTTPResponse(status: 42)
                case "/empty": return HTTPResponse(status: 204, body: [1, 2, 3])
                case "/big": return HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: 32 << 20))
                default: break
                }
                let text = "\(request.method) \(request.path) \(String(decoding: request.body, as: UTF8.self))"
                return HTTPResponse.text(200, text)
            })
    }

    deinit {
        gate.open()
        server.stop(grace: .zero)
    }

    /// What reached the handler, in order.
    var handled: [String] { paths.all }

    var port: UInt16 { server.port }
}
