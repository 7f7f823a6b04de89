import AMQP
import Messages

@testable import Granting
@testable import Pipeline

/// Everything there is in one schedule: lanes, broker, database, clients, time. One thread, no clock but its own.
final class World {
    /// A client's question, asked again until it is answered.
    struct Request {
        var event: Story.Event
        /// When it is asked next; nil when it is answered, or when nobody waits for an answer.
        var nextAt: Int64?
        var sent = 0
    }

    /// A transaction whose client is gone, and which the server ends later.
    struct Orphan {
        var until: Int64
        var attempt: Attempt
        var copies: [Copy]
        var commits: Bool
    }

    let plan: Plan
    let database: Database
    var broker: Broker
    var dice: Dice
    var now: Int64 = Story.beginning {
        didSet { database.now = now }
    }
    private(set) var lanes: [SimulatedLane] = []
    var requests: [Request]
    var orphans: [Orphan] = []
    var auditor = Auditor()
    private(set) var failure: String?
    private(set) var traces: [String] = []
    let isTracing: Bool

    var databaseAwayUntil: Int64 = 0
    var brokerAwayUntil: Int64 = 0
    var bindingMissingUntil: Int64 = 0
    var rejections = 0
    var answersLost = 0
    private var nextFault = 0
    private(set) var turns = 0
    /// Ids of messages already sent by clients, in order.
    private var identifiers: Dice

    /// Turns after which a schedule that has not come to rest hangs. The longest honest one took a tenth of it.
    static let turnLimit = 30_000

    init(_ plan: Plan, isTracing: Bool = false) {
        self.plan = plan
        self.isTracing = isTracing
        dice = Dice(seed: plan.seed &+ 11)
        identifiers = Dice(seed: plan.seed &+ 12)
        broker = Broker(seed: plan.seed &+ 13, reorders: plan.reorders)
        database = Database(now: Story.beginning, mutation: plan.mutation, seed: plan.seed &+ 14)
        requests = plan.story.events.map { Request(event: $0, nextAt: Story.beginning + $0.at) }
        database.setUpCatalog()
        let queues: [Broker.Queue] =
            (0..<plan.lanes).flatMap { _ in [.purchases, .wallet, .notifications] } + [.commands, .submitted]
        for (number, queue) in queues.enumerated() {
            lanes.append(SimulatedLane(number: number, queue: queue, world: self))
        }
    }

    var isDatabaseUp: Bool { now >= databaseAwayUntil }
    var isBrokerUp: Bool { now >= brokerAwayUntil }

    /// Runs until everything is at rest, and audits. Nil if all is well.
    func run() -> String? {
        while failure == nil {
            turns += 1
            guard turns < Self.turnLimit else {
                fail("INV2: it does not come to rest")
                break
            }
            sendDue()
            broker.release(now: now)
            endOrphans()
            let runnable = lanes.filter { $0.isRunnable }
            if runnable.isEmpty {
                if isAtRest { break }
                if !advance() { fail("INV2: nothing can go on") }
                continue
            }
            let lane = dice.pick(runnable)
            for _ in 0...dice.roll(plan.burst) {
                injectFaults(lane)
                guard failure == nil, lane.isRunnable else { break }
                lane.turn()
                if let violation = database.violation { fail(violation) }
            }
            now += Int64(dice.roll(3))
        }
        if failure == nil, let problem = auditor.problemsAtRest(self).first { fail(problem) }
        return failure
    }

    /// Notes what went wrong first.
    func fail(_ problem: String) {
        guard failure == nil else { return }
        failure = problem
        trace { "FAILED: \(problem)" }
    }

    /// Notes what happens, if anybody reads it.
    func trace(_ line: () -> String) {
        guard isTracing else { return }
        traces.append("+\(now - Story.beginning) ms  \(line())")
    }

    /// A message in a few words.
    func label(_ letter: Letter) -> String {
        "\(letter.header.type) \(letter.header.correlationID) [\(letter.header.id.rawValue.prefix(8))]"
    }

    // MARK: - Time

    private var isAtRest: Bool {
        broker.isEmpty && orphans.isEmpty && requests.allSatisfy { $0.nextAt == nil } && lanes.allSatisfy(\.isAtRest)
            && database.unannounced.committed.isEmpty
    }

    /// Goes to the next moment at which something can happen.
    private func advance() -> Bool {
        var next = lanes.map(\.wakesAt).min() ?? .max
        for request in requests { next = min(next, request.nextAt ?? .max) }
        for entry in broker.delayed { next = min(next, entry.until) }
        for orphan in orphans { next = min(next, orphan.until) }
        guard next < .max else { return false }
        now = max(now + 1, next)
        return true
    }

    private func endOrphans() {
        guard !orphans.isEmpty else { return }
        for orphan in orphans where orphan.until <= now { end(orphan) }
        orphans.removeAll { $0.until <= now }
    }

    private func end(_ orphan: Orphan) {
        trace { "an abandoned transaction \(orphan.commits ? "commits" : "is rolled back")" }
        if orphan.commits {
            apply(orphan.attempt, orphan.copies)
        } else {
            database.end(orphan.attempt.transaction, commits: false)
        }
    }

    private func injectFaults(_ lane: SimulatedLane) {
        while nextFault < plan.faults.count, plan.faults[nextFault].turn <= turns {
            let fault = plan.faults[nextFault]
            // One that waits for its moment must not hold up the others for ever.
            guard fault.fits(lane) || turns > fault.turn + 600 else { return }
            nextFault += 1
            inject(fault, lane)
        }
    }

    // MARK: - Clients

    private func sendDue() {
        for index in requests.indices {
            guard let due = requests[index].nextAt, due <= now else { continue }
            send(index)
        }
    }

    /// Asks, and asks again with a message of its own until there is an answer: after 5 s, then ever more patiently.
    func send(_ index: Int) {
        requests[index].sent += 1
        let (action, isAnswered) = (requests[index].event.action, requests[index].event.isAnswered)
        requests[index].nextAt = isAnswered ? now + 5_000 * Int64(requests[index].sent) : nil
        let letter = Letter(
            header: MessageHeader(
                id: MessageID(identifiers.uuid()), type: action.type, version: 1, occurredAt: now,
                correlationID: String(index), app: Story.app, replyTo: isAnswered ? "gateway" : nil),
            content: action.content)
        trace { "\(self.requests[index].event.name): \(self.label(letter))" }
        broker.store(letter, in: action.queue)
    }
}
