import Messages

@testable import Granting
@testable import Pipeline

/// A lane as a state machine that can be left, and can die, between any two statements, messages and steps.
///
/// Handlers, the order of steps (`LaneSteps`), what is stored and what is published (`LaneBatch`) are the real ones; the
/// connections are the model's.
final class SimulatedLane {
    /// What it does.
    enum State {
        /// Waits for messages.
        case idle
        /// Has a batch in hand.
        case working
        /// Nothing more has come: ends the batch that was told.
        case ending
        /// Waits for the database with its batch in hand, or for a binding.
        case paused(until: Int64)
        /// Its process or a broker connection is gone.
        case closed(until: Int64)
        /// Publishes what others left.
        case sweeping(rows: [Int64])
    }

    let number: Int
    let queue: Broker.Queue
    unowned let world: World
    var state = State.closed(until: 0)
    /// Not scheduled before, as if the operating system had forgotten it.
    var stalledUntil: Int64 = 0

    var purchases = GrantPurchases()
    var wallet = DecideWallet()
    var notifications = ApplyNotifications()
    let commands = RunCommands()

    /// Delivered and not acknowledged, in order of their tags.
    var hands: [Copy] = []
    var nextTag = 1
    var isSlowStart = true
    /// The broker has taken its messages back, but the lane does not know yet.
    var isConsumerLost = false

    /// The batch in the database.
    var current: BatchInHand?
    /// The batch that is committed and sent off, but not confirmed yet.
    var told: BatchInHand?
    /// What a sweep publishes.
    var swept: Publishing?

    /// Rows of `unannounced` whose facts are published.
    var published: [Int64] = []
    var lastWork: Int64 = 0
    var nextSweep: Int64 = 0

    init(number: Int, queue: Broker.Queue, world: World) {
        (self.number, self.queue, self.world) = (number, queue, world)
    }

    /// For traces.
    var name: String { "lane \(number) (\(queue))" }

    /// Whether a turn would get anything done now.
    var isRunnable: Bool {
        let world = world
        guard world.now >= stalledUntil else { return false }
        switch state {
        case .idle:
            return !hands.isEmpty || world.broker.depth(queue) > 0 || isConsumerLost || told != nil
                || (!published.isEmpty && world.now > lastWork + 1_000) || world.now >= nextSweep
        case .working:
            guard let transaction = current?.attempt?.transaction else { return true }
            return !world.database.isWaiting(transaction)
        case .paused(let until): return told != nil || world.now >= until
        case .closed(let until): return world.now >= until
        case .sweeping, .ending: return true
        }
    }

    /// When a turn will get something done at the latest, if nobody else moves.
    var wakesAt: Int64 {
        let time: Int64 =
            switch state {
            case .idle: published.isEmpty ? nextSweep : min(nextSweep, lastWork + 1_001)
            case .paused(let until), .closed(let until): until
            case .working, .sweeping, .ending: stalledUntil > world.now ? stalledUntil : .max
            }
        return max(time, stalledUntil)
    }

    /// Whether it has nothing in hand.
    var isAtRest: Bool {
        if case .idle = state { hands.isEmpty && told == nil && published.isEmpty } else { false }
    }

    /// One step: a statement, a message, a confirm, an acknowledgement.
    func turn() {
        switch state {
        case .closed: open()
        case .idle: isConsumerLost ? close(after: 50) : takeOrTidy()
        // What was told before must not wait for the database.
        case .paused where told != nil: go { try $0.endTold() }
        case .paused:
            guard world.isDatabaseUp else { return state = .paused(until: world.now + 500) }
            state = .working
        case .working: go { try $0.work() }
        case .ending: go { try $0.endTold() }
        case .sweeping(let rows): sweep(rows)
        }
    }

    /// Everything anew: caches, tags, what was to be retired.
    private func open() {
        guard world.isDatabaseUp, world.isBrokerUp else { return state = .closed(until: world.now + 500) }
        (purchases, wallet, notifications) = (GrantPurchases(), DecideWallet(), ApplyNotifications())
        (hands, nextTag, isSlowStart, isConsumerLost) = ([], 1, true, false)
        published = []
        nextSweep = world.now + 100
        state = .idle
        world.trace { "\(self.name) opens" }
    }

    /// Drops connections: the broker gives back, the database rolls back.
    func close(after delay: Int64) {
        if let current, let attempt = current.attempt { world.abandon(attempt, current.taken) }
        if !isConsumerLost { world.broker.takeBack(hands, to: queue) }
        (hands, current, told, swept) = ([], nil, nil, nil)
        state = .closed(until: world.now + delay)
    }

    private func takeOrTidy() {
        let window = isSlowStart ? 1 : world.plan.prefetch
        while hands.count < window, var copy = world.broker.deliver(queue) {
            copy.tag = nextTag
            nextTag += 1
            hands.append(copy)
        }
        let waiting = hands.dropFirst(told?.taken.count ?? 0)
        // It looks without waiting while something is told: what arrives a moment later comes too late.
        guard !waiting.isEmpty, told == nil || world.dice.chance(80) else {
            return told == nil ? tidy() : (state = .ending)
        }
        let limit = max(1, window / 2)
        let batch = BatchInHand(Array(waiting.prefix(1 + world.dice.roll(min(limit, waiting.count)))))
        current = batch
        state = .working
        world.trace { "\(self.name) takes \(batch.taken.map { self.world.label($0.letter) }.joined(separator: ", "))" }
    }

    /// What it has told is retired after a second, what others left is looked for every five.
    private func tidy() {
        if !published.isEmpty, world.now > lastWork + 1_000 { return retire() }
        guard world.now >= nextSweep, queue != .submitted else { return nextSweep = world.now + 5_000 }
        nextSweep = world.now + 4_000 + Int64(world.dice.roll(2_000))
        guard world.isDatabaseUp else { return }
        let stale = world.database.stale(afterSeconds: 15).filter { !published.contains($0.id) }
        guard !stale.isEmpty else { return }
        let wanted = Set(stale.flatMap(\.facts))
        let facts = world.database.recall(for: 0) { wanted.contains($0.id) }
        world.trace { "\(self.name) sweeps \(facts.count) facts" }
        swept = Publishing(facts.map { .message(Envelope.fact($0, service: "granting", replyTo: nil)) })
        state = .sweeping(rows: stale.map(\.id))
    }

    private func sweep(_ rows: [Int64]) {
        guard publish(&swept) else { return }
        swept = nil
        published += rows
        state = .idle
        retire()
    }

    private func retire() {
        guard world.isDatabaseUp else { return lastWork = world.now }
        let transaction = world.database.begin()
        var progress = Progress()
        let isDone = world.database.retire(published.sorted(), for: transaction, &progress)
        world.database.end(transaction, commits: isDone)
        if isDone { published = [] } else { lastWork = world.now }
    }

    /// Tells the batch in hand; it is ended later, together with or before the next one.
    private func work() throws {
        guard let current else { return state = .idle }
        switch world.plan.mutation {
        case .acknowledgedBeforePublish, .acknowledgedBeforeCommit: return try workInWrongOrder(current)
        case .laterBatchEndedFirst: return try workOutOfTurn(current)
        default: break
        }
        var steps = self
        _ = try steps.tell(current) { try $0.endTold() }
        told = current
        self.current = nil
        lastWork = world.now
        state = isSlowStart ? .ending : .idle
    }

    /// Ends the batch that was told, if there is one.
    func endTold() throws {
        defer { if told == nil, case .ending = state { state = .idle } }
        guard let told, let committed = told.committed else { return }
        var steps = self
        try steps.end(told, committed)
        world.trace { "\(self.name) is done with a batch" }
        if told.taken.contains(where: { !$0.isRedelivered }) { isSlowStart = false }
        lastWork = world.now
        self.told = nil
    }

    private func go(_ step: (SimulatedLane) throws -> Void) {
        do {
            try step(self)
        } catch is Unfinished {
        } catch is BrokerLost {
            world.trace { "\(self.name) finds its broker connection gone" }
            close(after: 50)
        } catch {
            world.fail("a handler failed: \(error)")
        }
    }
}

/// The step needs more turns.
struct Unfinished: Error {}
/// The lane has to begin anew.
struct BrokerLost: Error {}
