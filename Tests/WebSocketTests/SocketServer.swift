import HTTPServer
import TestSupport
import WebSocket

/// A server that echoes messages at `/ws`; a message that begins with `!` is answered by the code 1011.
final class SocketServer: Sendable {
    let server: HTTPServer
    let hub: WebSocketHub

    init(_ limits: WebSocketLimits = WebSocketLimits(), life: Duration? = nil, connections: Int = 1_024) throws {
        guard let hub = WebSocketHub.start(limits) else { throw NoSocket() }
        self.hub = hub
        var configuration = HTTPServer.Configuration()
        configuration.maximumConnections = connections
        configuration.maximumConnectionsPerAddress = 0
        server = try HTTPServer.start(configuration, bodyLimit: { _, _ in 1_024 }) { request in
            guard request.path == "/ws" else { return .text(200, "ok") }
            do throws(WebSocketRefusal) {
                let expiry = life.map { ContinuousClock.now + $0 }
                return try hub.response(to: request, expiresAt: expiry) { message in
                    message.first == UInt8(ascii: "!") ? .close(.internalError, reason: "told to") : .message(message)
                }
            } catch {
                return .text(error.status, error.code)
            }
        }
    }

    deinit {
        hub.stop(grace: .zero)
        server.stop(grace: .zero)
    }

    var port: UInt16 { server.port }
}
