import HTTPServer
import Synchronization

/// Counts open sockets, of all and by network.
final class WebSocketPlaces: Sendable {
    private struct State {
        var total = 0
        var counts: [IPAddress: Int] = [:]
    }

    private let limits: WebSocketLimits
    private let state = Mutex(State())

    init(_ limits: WebSocketLimits) { self.limits = limits }

    var count: Int { state.withLock { $0.total } }

    /// A place for a client at this address.
    func take(_ client: IPAddress?) throws(WebSocketRefusal) -> WebSocketPlace {
        let network = client?.network
        try state.withLock { (state) throws(WebSocketRefusal) in
            let ofClient = network.flatMap { state.counts[$0] } ?? 0
            guard ofClient < limits.maximumConnectionsPerAddress else { throw .tooManyOfAddress }
            guard state.total < limits.maximumConnections else { throw .tooMany }
            state.total += 1
            if let network { state.counts[network] = ofClient + 1 }
        }
        return WebSocketPlace(self, network)
    }

    fileprivate func leave(_ network: IPAddress?) {
        state.withLock {
            $0.total -= 1
            guard let network, let count = $0.counts[network] else { return }
            $0.counts[network] = count > 1 ? count - 1 : nil
        }
    }
}

/// A counted socket; it is free again when nobody keeps this, also if the client went away during the handshake.
final class WebSocketPlace: Sendable {
    private let places: WebSocketPlaces
    private let network: IPAddress?

    fileprivate init(_ places: WebSocketPlaces, _ network: IPAddress?) {
        self.places = places
        self.network = network
    }

    deinit { places.leave(network) }
}
