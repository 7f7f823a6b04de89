import AMQP
import Messages
import Observability
import Postgres
import Runtime

/// The transaction of a batch, and what the lane does when the database says no.
extension LaneSession {
    /// Commits `batch`, however long that takes: outages are waited for, conflicts re-run, and a batch that the
    /// database rejects is run one message a transaction so that only the guilty one is parked.
    mutating func commit(_ batch: [Incoming]) throws -> LaneBatch {
        var batch = batch
        var backoff = Backoff(base: .milliseconds(50))
        var conflicts = 0
        while true {
            do {
                let began = ContinuousClock.now
                defer { instruments.commitSeconds.observe(began.duration(to: .now)) }
                return try attempt(batch)
            } catch let error as PostgresError {
                switch error.retryClass {
                // Deadlock or serialisation failure: nothing was committed. Five times quickly, then with patience.
                case .retryNow where conflicts < 5:
                    conflicts += 1
                    try pause(.milliseconds(Int64.random(in: 10...100)))
                case .dataError:
                    return try singleOut(batch, error.code + (error.constraint.map { ".\($0)" } ?? ""))
                case .retryNow, .wait, .ambiguous, .notReady:
                    instruments.waits.increment()
                    setReady(false)
                    logger.warning("a batch waits for the database", ["error": .string(describe(error))])
                    try pause(backoff.next())
                    if !database.isUsable { try reopenDatabase() }
                    // Decided anew it may come to something else; what the lost commit said has to be told as well.
                    if error.retryClass == .ambiguous { batch = batch.map(\.again) }
                }
            } catch let crash as SimulatedCrash {
                throw crash
            } catch {
                logger.error("a handler failed", ["error.type": .string("\(type(of: error))")])
                return try singleOut(batch, "handler.failed")
            }
        }
    }

    private mutating func attempt(_ batch: [Incoming]) throws -> LaneBatch {
        let (store, retiring, probe, handlerSeconds) = (store, published, probe, instruments.handlerSeconds)
        let renewsPlans = plans.isDue(at: .now)
        let result = try Self.run(
            batch, by: &handler, on: &database, store, retiring, probe, renewsPlans: renewsPlans
        ) {
            handlerSeconds.observe($0)
        }
        published = []
        return result
    }

    /// One transaction: everything of `batch`, or nothing. `handled` is told how long the handler took.
    static func run(
        _ batch: [Incoming], by handler: inout any Handler, on database: inout Connection, _ store: FactStore,
        _ retiring: [Int64], _ probe: any LaneProbe, renewsPlans: Bool = false, handled: (Duration) -> Void = { _ in }
    ) throws -> LaneBatch {
        let (decided, rows) = try database.transaction(endingWith: { transaction in
            if renewsPlans { transaction.enqueue(PlanRenewal.statement) }
            let began = ContinuousClock.now
            let outcomes = try handler.handle(batch, in: &transaction)
            handled(began.duration(to: .now))
            guard outcomes.count == batch.count else { throw HandlerMistake.outcomeCount }
            let (facts, recalling) = LaneBatch.facts(of: outcomes, on: batch)
            let saving = store.saving(facts, recalling: recalling, retiring: retiring)
            try probe.reached(.beforeCommit, batch: batch.map(\.header.id))
            return ((outcomes: outcomes, saving: saving), last: saving.statements)
        })
        let saved = try store.saved(decided.saving, rows) { statement throws(PostgresError) in
            try database.query(statement.sql, statement.values)
        }
        return LaneBatch(batch, decided.outcomes, saved)
    }

    private mutating func singleOut(_ batch: [Incoming], _ reason: String) throws -> LaneBatch {
        guard batch.count > 1 else { return .parked(batch[0], reason: reason) }
        var result = LaneBatch()
        for incoming in batch { result.append(try commit([incoming])) }
        return result
    }

    /// Waits with the heartbeats of both broker connections kept. What was told before is ended first: it must not wait
    /// for the database.
    private mutating func pause(_ duration: Duration) throws {
        try endTold()
        if stop.wait(for: duration) { throw LaneStopped() }
        try consumer.serveHeartbeat()
        try publisher.serveHeartbeat()
    }

    /// Opens the database anew, however long that takes.
    mutating func reopenDatabase() throws {
        var backoff = Backoff()
        while true {
            do {
                database = try Self.openDatabase(configuration)
                logger.info("database reconnected")
                return
            } catch {
                logger.warning("the database is away", ["error": .string(describe(error))])
                // At most 5 s, half a heartbeat: the broker must not take the lane for dead.
                try pause(backoff.next())
            }
        }
    }
}

/// A handler broke its promise; treated as a failing handler.
enum HandlerMistake: Error { case outcomeCount }
