import Runtime
import Synchronization

/// Counts requests and body bytes in flight, refuses what is too much, and knows when the last request has left.
final class Admission: Sendable {
    private struct State {
        var exchanges: [ObjectIdentifier: Exchange] = [:]
        var bodyBytes = 0
        var isDraining = false
    }

    private let maximumInFlight: Int
    private let maximumBodyBytes: Int
    private let state = Mutex(State())
    /// Raised when nothing is in flight while draining.
    let drained = StopSignal()

    init(maximumInFlight: Int, maximumBodyBytes: Int) {
        self.maximumInFlight = maximumInFlight
        self.maximumBodyBytes = maximumBodyBytes
    }

    var inFlight: Int { state.withLock { $0.exchanges.count } }
    var bodyBytesInFlight: Int { state.withLock { $0.bodyBytes } }
    var isDraining: Bool { state.withLock { $0.isDraining } }

    /// Admits a request that may send `bodyBytes`.
    func admit(_ exchange: Exchange, bodyBytes: Int) throws(HTTPFailure) {
        try state.withLock { (state) throws(HTTPFailure) in
            guard !state.isDraining else { throw .stopping }
            guard state.exchanges.count < maximumInFlight, bodyBytes <= maximumBodyBytes - state.bodyBytes else {
                throw .overloaded
            }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            state.bodyBytes += bodyBytes
        }
    }

    /// An admitted request has got its answer or has gone away.
    func leave(_ exchange: Exchange, bodyBytes: Int) {
        let isLast = state.withLock {
            $0.exchanges[ObjectIdentifier(exchange)] = nil
            $0.bodyBytes -= bodyBytes
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
