import Runtime
import Synchronization

/// Counts requests and body bytes in flight, refuses what is too much, and knows when the last request has left.
final class Admission: Sendable {
    private struct Used {
        var requests = 0
        var bodyBytes = 0
        /// By network, where the share has a limit for one; no entry for none.
        var bodyBytesByAddress: [IPAddress: Int] = [:]
    }

    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        /// Requests in flight by the network they are counted for; no entry for none.
        var counts: [IPAddress: Int] = [:]
        /// By share: usual requests first, then each kind with a share of its own.
        var used: [Used]
        var isDraining = false
    }

    private let maximumPerAddress: Int
    private let shares: [HTTPServer.Share]
    private let state: Mutex<State>
    /// Raised when nothing is in flight while draining.
    let drained = StopSignal()

    /// `shares` has that of usual requests first, at ``Exchange/Reservation/usualShare``.
    init(shares: [HTTPServer.Share], maximumPerAddress: Int) {
        self.shares = shares
        self.maximumPerAddress = maximumPerAddress
        state = Mutex(State(used: shares.map { _ in Used() }))
    }

    var inFlight: Int { state.withLock { $0.exchanges.count } }
    var bodyBytesInFlight: Int { state.withLock { $0.used.reduce(0) { $0 + $1.bodyBytes } } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Admits a request that may send `bodyBytes`, and counts it for the network of `client` if one is given.
    func admit(_ exchange: Exchange, _ reservation: Exchange.Reservation) throws(HTTPFailure) {
        let network = reservation.client?.network
        let share = shares[reservation.share]
        try state.withLock { (state) throws(HTTPFailure) in
            guard !state.isDraining else { throw .stopping }
            let ofClient = network.flatMap { state.counts[$0] } ?? 0
            // The client's own limit first: who has too much in flight is told so, and delayed.
            guard network == nil || maximumPerAddress == 0 || ofClient < maximumPerAddress else {
                throw .tooManyRequests
            }
            var used = state.used[reservation.share]
            if let network, let most = share.bodyBytesPerAddress {
                let bytes = (used.bodyBytesByAddress[network] ?? 0) + reservation.bodyBytes
                guard bytes <= most else { throw .tooManyRequests }
                used.bodyBytesByAddress[network] = bytes
            }
            guard used.requests < share.requests else { throw .overloaded(.requests) }
            guard reservation.bodyBytes <= share.bodyBytes - used.bodyBytes else { throw .overloaded(.bodyBytes) }
            used.requests += 1
            used.bodyBytes += reservation.bodyBytes
            state.used[reservation.share] = used
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            if let network { state.counts[network] = ofClient + 1 }
        }
    }

    /// An admitted request has got its answer or has gone away.
    func leave(_ exchange: Exchange, _ reservation: Exchange.Reservation) {
        let isLast = state.withLock {
            $0.exchanges[ObjectIdentifier(exchange)] = nil
            $0.used[reservation.share].requests -= 1
            $0.used[reservation.share].bodyBytes -= reservation.bodyBytes
            if let network = reservation.client?.network,
                let bytes = $0.used[reservation.share].bodyBytesByAddress[network]
            {
                let left = bytes - reservation.bodyBytes
                $0.used[reservation.share].bodyBytesByAddress[network] = left > 0 ? left : nil
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
