import HTTPServer
import Observability
import Synchronization

/// `/metrics`, `/livez` and `/readyz` on a port of their own, so that they can be kept from the public.
final class MetricsEndpoint: Sendable {
    private let server: HTTPServer

    /// The port it listens on.
    var port: UInt16 { server.port }

    private init(_ server: HTTPServer) { self.server = server }

    static func start(address: String, port: Int, metrics: Metrics, readiness: Readiness) throws -> MetricsEndpoint {
        // One thread and few connections: scrapes are rare and small.
        var configuration = HTTPServer.Configuration()
        configuration.address = address
        configuration.port = UInt16(clamping: port)
        configuration.maximumConnections = 64
        let server = try HTTPServer.start(configuration, bodyLimit: { _, _ in 0 }) { request in
            guard request.method == "GET" || request.method == "HEAD" else {
                return HTTPResponse(status: 405, headers: [("Allow", "GET, HEAD")], body: [])
            }
            return switch request.path {
            case "/metrics":
                text(200, metrics.render(), type: "text/plain; version=0.0.4; charset=utf-8")
            case "/livez":
                text(200, "ok\n")
            case "/readyz":
                readiness.answer()
            default:
                text(404, "only /metrics, /livez and /readyz are here\n")
            }
        }
        return MetricsEndpoint(server)
    }

    func stop() { server.stop(grace: .milliseconds(200)) }

    fileprivate static func text(_ status: Int, _ body: String, type: String = "text/plain") -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", type)], body: Array(body.utf8))
    }
}

/// Whether every part of the service works; not before all of them were started.
final class Readiness: Sendable {
    private let parts = Mutex<[any ServicePart]?>(nil)

    func set(_ started: [any ServicePart]) { parts.withLock { $0 = started } }

    func answer() -> HTTPResponse {
        guard let parts = parts.withLock({ $0 }) else { return MetricsEndpoint.text(503, "starting\n") }
        let waiting = parts.filter { !$0.isReady }.map(\.name)
        return waiting.isEmpty
            ? MetricsEndpoint.text(200, "ok\n")
            : MetricsEndpoint.text(503, "not ready: " + waiting.joined(separator: ", ") + "\n")
    }
}
