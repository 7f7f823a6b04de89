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

    /// The batch.
    var taken: [Copy] = []
    var incoming: [Incoming] = []
    var attempt: Attempt?
    var committed: LaneBatch?
    var publishing: Publishing?
    /// Steps done of: publish, forward, note, acknowledge.
    var stage = 0

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
            return !hands.isEmpty || world.broker.depth(queue) > 0 || isConsumerLost
                || (!published.isEmpty && world.now > lastWork + 1_000) || world.now >= nextSweep
        case .working:
            guard let transaction = attempt?.transaction else { return true }
            return !world.database.isWaiting(transaction)
        case .paused(let until), .closed(let until): return world.now >= until
        case .sweeping: return true
        }
    }

    /// When a turn will get something done at the latest, if nobody else moves.
    var wakesAt: Int64 {
        let time: Int64 =
            switch state {
            case .idle: published.isEmpty ? nextSweep : min(nextSweep, lastWork + 1_001)
            case .paused(let until), .closed(let until): until
            case .working, .sweeping: .max
            }
        return max(time, stalledUntil)
    }

    /// Whether it has nothing in hand.
    var isAtRest: Bool {
        if case .idle = state { hands.isEmpty && published.isEmpty } else { false }
    }

    /// One step: a statement, a message, a confirm, an acknowledgement.
    func turn() {
        switch state {
        case .closed: open()
        case .idle: isConsumerLost ? close(after: 50) : takeOrTidy()
        case .paused:
            guard world.isDatabaseUp else { return state = .paused(until: world.now + 500) }
            state = .working
        case .working: work()
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
        if let attempt { world.abandon(attempt, taken) }
        if !isConsumerLost { world.broker.takeBack(hands, to: queue) }
        (hands, taken, attempt, committed, publishing, stage) = ([], [], nil, nil, nil, 0)
        state = .closed(until: world.now + delay)
    }

    private func takeOrTidy() {
        let window = isSlowStart ? 1 : world.plan.prefetch
        while hands.count < window, var copy = world.broker.deliver(queue) {
            copy.tag = nextTag
            nextTag += 1
            hands.append(copy)
        }
        guard !hands.isEmpty else { return tidy() }
        taken = Array(hands.prefix(1 + world.dice.roll(hands.count)))
        incoming = taken.map { Incoming(header: $0.letter.header, body: [], isRedelivered: $0.isRedelivered) }
        state = .working
        world.trace { "\(self.name) takes \(self.taken.map { self.world.label($0.letter) }.joined(separator: ", "))" }
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
        publishing = Publishing(facts.map { .message(Envelope.fact($0, service: "granting", replyTo: nil)) })
        state = .sweeping(rows: stale.map(\.id))
    }

    private func sweep(_ rows: [Int64]) {
        guard publish() else { return }
        publishing = nil
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

    private func work() {
        do {
            switch world.plan.mutation {
            case .acknowledgedBeforePublish, .acknowledgedBeforeCommit: try handleInWrongOrder()
            default:
                var steps = self
                try steps.handle(taken)
            }
            world.trace { "\(self.name) is done with its batch" }
            if taken.contains(where: { !$0.isRedelivered }) { isSlowStart = false }
            (taken, attempt, committed, publishing, stage) = ([], nil, nil, nil, 0)
            lastWork = world.now
            state = .idle
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
