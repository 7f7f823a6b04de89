import Runtime
import Synchronization

/// Counts requests and body bytes in flight, refuses what is too much, and knows when the last request has left.
final class Admission: Sendable {
    private struct Used {
        var requests = 0
        var bodyBytes = 0
    }

    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        /// Requests in flight by the network they are counted for; no entry for none.
        var counts: [IPAddress: Int] = [:]
        /// Of usual requests, and of those with a share of their own.
        var usual = Used()
        var apart = Used()
        var isDraining = false
    }

    private let maximumPerAddress: Int
    private let usual: HTTPServer.Share
    private let apart: HTTPServer.Share
    private let state = Mutex(State())
    /// Raised when nothing is in flight while draining.
    let drained = StopSignal()

    init(usual: HTTPServer.Share, apart: HTTPServer.Share, maximumPerAddress: Int) {
        self.usual = usual
        self.apart = apart
        self.maximumPerAddress = maximumPerAddress
    }

    var inFlight: Int { state.withLock { $0.exchanges.count } }
    var bodyBytesInFlight: Int { state.withLock { $0.usual.bodyBytes + $0.apart.bodyBytes } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Admits a request that may send `bodyBytes`, and counts it for the network of `client` if one is given.
    func admit(_ exchange: Exchange, _ reservation: Exchange.Reservation) throws(HTTPFailure) {
        let network = reservation.client?.network
        let share = reservation.isApart ? apart : usual
        try state.withLock { (state) throws(HTTPFailure) in
            guard !state.isDraining else { throw .stopping }
            let ofClient = network.flatMap { state.counts[$0] } ?? 0
            // The client's own limit first: who has too much in flight is told so, and delayed.
            guard network == nil || maximumPerAddress == 0 || ofClient < maximumPerAddress else {
                throw .tooManyRequests
            }
            var used = reservation.isApart ? state.apart : state.usual
            guard used.requests < share.requests else { throw .overloaded(.requests) }
            guard reservation.bodyBytes <= share.bodyBytes - used.bodyBytes else { throw .overloaded(.bodyBytes) }
            used.requests += 1
            used.bodyBytes += reservation.bodyBytes
            if reservation.isApart { state.apart = used } else { state.usual = used }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            if let network { state.counts[network] = ofClient + 1 }
        }
    }

    /// An admitted request has got its answer or has gone away.
    func leave(_ exchange: Exchange, _ reservation: Exchange.Reservation) {
        let isLast = state.withLock {
            $0.exchanges[ObjectIdentifier(exchange)] = nil
            if reservation.isApart {
                $0.apart.requests -= 1
                $0.apart.bodyBytes -= reservation.bodyBytes
            } else {
                $0.usual.requests -= 1
                $0.usual.bodyBytes -= reservation.bodyBytes
            }
            if let network = reservation.client?.network, let count = $0.counts[network] {
                $0.counts[network] = count > 1 ? count - 1 : nil
            }
            return $0.isDraining && $0.exchanges.isEmpty
        }
        if isLast { drained.stop() }
    }

    /// From now on every new request is refused.
    func drain() {
        let isIdle = state.withLock {
            $0.isDraining = true
            return $0.exchanges.isEmpty
        }
        if isIdle { drained.stop() }
    }

    /// The requests that are still in flight.
    func remaining() -> [Exchange] {
        state.withLock { Array($0.exchanges.values) }
    }
}
