import Runtime

/// One call of `publish`: what is still to be written, what was rejected, what is settled. Pure but for the clock's
/// values that are handed in.
struct PublishRound {
    let messages: [OutgoingMessage]
    private var settled: [PublishOutcome?]
    private var next = 0
    /// Messages to be written again.
    private var again: [Int] = []
    /// Messages that were rejected and wait for `retryAt`.
    private var rejected: [Int] = []
    private var retryAt: ContinuousClock.Instant?
    /// 50 ms … 2 s: a full queue drains in about that time, a new leader is elected in 1 s.
    private var backoff = Backoff(base: .milliseconds(50), limit: .seconds(2))
    /// Messages that await a confirm and have none yet.
    private var open: Int
    private let patienceEnds: ContinuousClock.Instant?

    init(_ messages: [OutgoingMessage], patience: Duration?) {
        self.messages = messages
        settled = Array(repeating: nil, count: messages.count)
        open = messages.count(where: \.awaitsConfirm)
        patienceEnds = patience.map { ContinuousClock.now.advanced(by: $0) }
    }

    /// Whether anything can be written now.
    var hasMore: Bool { next < messages.count || !again.isEmpty }

    /// The next message to be written.
    mutating func takeNext() -> Int? {
        if let index = again.popLast() { return index }
        guard next < messages.count else { return nil }
        next += 1
        return next - 1
    }

    /// Everything that awaits a confirm has one, and the rest is written, or cannot be while the broker is blocked:
    /// what awaits no confirm may be lost and never holds the caller back.
    func isDone(isBlocked: Bool) -> Bool { open == 0 && (!hasMore || isBlocked) }

    func isOutOfPatience(at now: ContinuousClock.Instant) -> Bool { patienceEnds.map { now >= $0 } ?? false }

    /// One outcome for each message.
    var outcomes: [PublishOutcome] { settled.map { $0 ?? .unconfirmed } }

    mutating func settle(_ settlement: ConfirmLedger.Settlement) {
        switch settlement.verdict {
        case .confirmed:
            settled[settlement.token] = .confirmed
            open -= 1
            backoff.reset()
        case .returned(let code, let text):
            settled[settlement.token] = .returned(code: code, text: text)
            open -= 1
        case .rejected:
            rejected.append(settlement.token)
            if retryAt == nil { retryAt = ContinuousClock.now.advanced(by: backoff.next()) }
        }
    }

    /// Puts rejected messages back into the line when their wait is over.
    mutating func requeueRejected(at now: ContinuousClock.Instant) {
        guard let time = retryAt, now >= time else { return }
        // `takeNext` takes from the end: reversed keeps their order.
        again.append(contentsOf: rejected.reversed())
        rejected.removeAll()
        retryAt = nil
    }

    /// When waiting has to end for something of the round, at the latest at `limit`.
    func wakeUp(before limit: ContinuousClock.Instant) -> ContinuousClock.Instant {
        [limit, retryAt, patienceEnds].compactMap(\.self).min() ?? limit
    }
}
