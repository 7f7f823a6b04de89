import Synchronization

/// Calls that wait to be made, taken in random order by several clients. Any thread.
final class JobPool: Sendable {
    /// A call.
    enum Job: Sendable {
        /// A purchase is handed in, with its order where the client knows it.
        case submit(user: String, transactionID: String, evidence: String, order: String?)
        /// A server asks for a spend.
        case spend(id: String, deadline: String)
    }

    private struct Entry: Sendable {
        let job: Job
        let notBefore: ContinuousClock.Instant
    }

    private struct State {
        var entries: [Entry] = []
        var inHand = 0
    }

    private let state = Mutex(State())

    /// Adds a call that may be made after `pause`.
    func add(_ job: Job, after pause: Duration = .zero) {
        state.withLock { $0.entries.append(Entry(job: job, notBefore: .now + pause)) }
    }

    /// One of those that are due, nil if none is. Whoever takes one calls ``done()`` after adding what follows from it.
    func take(using random: inout some RandomNumberGenerator) -> Job? {
        let draw = random.next()
        return state.withLock { state in
            let now = ContinuousClock.now
            let due = state.entries.indices.filter { state.entries[$0].notBefore <= now }
            guard !due.isEmpty else { return nil }
            let entry = state.entries.remove(at: due[Int(draw % UInt64(due.count))])
            state.inHand += 1
            return entry.job
        }
    }

    /// The call that was taken is over.
    func done() { state.withLock { $0.inHand -= 1 } }

    /// A client of `user` is started anew: what it was about to hand in is forgotten.
    func forget(user: String) {
        state.withLock { state in
            state.entries.removeAll { entry in
                if case .submit(let owner, _, _, _) = entry.job { owner == user } else { false }
            }
        }
    }

    /// Calls that are waiting or being made.
    var count: Int { state.withLock { $0.entries.count + $0.inHand } }
}
