import Synchronization

/// Refusals that are told a little later.
///
/// A client that is refused at once comes back at once: on its open connection it could ask, and be refused, tens of
/// thousands of times a second. A refusal that is held for a second costs nothing while it waits (the connection sleeps)
/// and lets a connection be refused once a second only. Places are limited; without one a refusal is told at once and the
/// connection closed.
final class HeldAnswers: Sendable {
    private struct Held {
        let exchange: Exchange
        let response: HTTPResponse
        let due: ContinuousClock.Instant
    }

    private struct State {
        var held: [Held] = []
        var isOpen = true
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Keeps an answer until `due`; false if there is no place. Delays are all equal, so the list is in order.
    func add(_ exchange: Exchange, _ response: HTTPResponse, until due: ContinuousClock.Instant) -> Bool {
        state.withLock {
            guard $0.isOpen, $0.held.count < limit else { return false }
            $0.held.append(Held(exchange: exchange, response: response, due: due))
            return true
        }
    }

    /// Gives the answers whose time has come.
    func release(at now: ContinuousClock.Instant) {
        let due = state.withLock { state in
            let count = state.held.firstIndex { $0.due > now } ?? state.held.count
            defer { state.held.removeFirst(count) }
            return Array(state.held.prefix(count))
        }
        for held in due { held.exchange.answer(held.response) }
    }

    /// Gives all answers and keeps none from now on: a daemon must not stop while connections sleep.
    func close() {
        let all = state.withLock { state in
            state.isOpen = false
            defer { state.held = [] }
            return state.held
        }
        for held in all { held.exchange.answer(held.response) }
    }
}
