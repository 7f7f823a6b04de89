import HTTPServer
import Pipeline
import Service
import WebSocket

/// The connection to the services behind the broker.
struct RequesterPart: ServicePart {
    let requester: Requester

    var name: String { "requests" }
    var isReady: Bool { requester.isReady }

    /// Stopped after the HTTP server, so that requests in flight still get their answers.
    func shutDown(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        requester.shutDown(within: limit)
        return ContinuousClock.now < deadline
    }
}

/// The WebSockets.
struct SocketsPart: ServicePart {
    let hub: WebSocketHub

    var name: String { "sockets" }
    var isReady: Bool { true }

    /// Stopped after the HTTP server, which makes them, and before the broker's connection: what is being answered still
    /// is, and everybody is told that the server goes away.
    func shutDown(within limit: Duration) -> Bool {
        hub.stop(grace: min(limit, GatewayPatience.stop))
        return true
    }
}

/// What clients reach.
struct ListenerPart: ServicePart {
    let server: HTTPServer

    var name: String { "http" }
    /// It listens from its start on; whether requests can be answered is the requester's to say.
    var isReady: Bool { true }

    /// Stopped first: no new requests, then up to ``GatewayPatience/stop`` for those in flight.
    func shutDown(within limit: Duration) -> Bool {
        server.stop(grace: min(limit, GatewayPatience.stop))
        return true
    }
}
