import Observability
import Pipeline
import Postgres
import Runtime
import Service
import Synchronization

/// The thread of the daily run. Every copy of the service has one; whoever holds the lock makes the runs, at the time of
/// each app and when an operator asks.
final class DailyPart: ServicePart {
    let name = "daily"
    private let thread: Mutex<NamedThread?> = Mutex(nil)
    private let ready = Atomic<Bool>(false)

    private init() {}

    /// What it works with.
    struct Work: Sendable {
        let run: DailyRun
        let settings: DailySettings
        /// Clocks of apps by id; apps without one go by ``DayPlan/standardZone``.
        let zones: @Sendable () -> [String: String]
        let instruments: DailyMetrics
        var now: @Sendable () -> Int64 = { WallClock.milliseconds }
    }

    /// Starts the thread.
    static func start(database: Secret, work: Work, stop: StopSignal) -> DailyPart {
        let part = DailyPart()
        let thread = NamedThread.start(name: "daily") { part.loop(database, work, stop) }
        part.thread.withLock { $0 = thread }
        return part
    }

    /// Whether it works, or waits for the lock of whoever does.
    var isReady: Bool { ready.load(ordering: .relaxed) }

    func shutDown(within limit: Duration) -> Bool { thread.withLock { $0 }?.join(for: limit) ?? true }

    private func loop(_ database: Secret, _ work: Work, _ stop: StopSignal) {
        var backoff = Backoff()
        while !stop.isStopped {
            do {
                var connection = try Connection.open(
                    database, applicationName: "purser-reconciliation daily",
                    // A day's lines are written in one statement.
                    parameters: ["statement_timeout": "120s"])
                ready.store(true, ordering: .relaxed)
                guard try SingleRunner.wait(for: .daily, on: &connection, until: stop) else { break }
                backoff.reset()
                var round = DailyRound(work: work)
                repeat {
                    try round.run(on: &connection)
                    // A second: whoever asked for a run waits for it.
                } while !stop.wait(for: .seconds(1))
            } catch {
                ready.store(false, ordering: .relaxed)
                work.run.logger.warning(
                    "the daily run waits for the database",
                    ["error": .string((error as? PostgresError)?.code ?? "\(type(of: error))")])
                _ = stop.wait(for: backoff.next())
            }
        }
        ready.store(false, ordering: .relaxed)
    }
}
