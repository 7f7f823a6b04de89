import Observability
import Pipeline
import Postgres
import Runtime
import Service
import Synchronization

/// The thread that makes the checks. Every copy of the service has one; whoever holds the lock makes them.
final class ChecksPart: ServicePart {
    let name = "checks"
    private let thread: Mutex<NamedThread?> = Mutex(nil)
    private let ready = Atomic<Bool>(false)

    private init() {}

    /// Starts the thread.
    static func start(
        database: Secret, interval: Int, round: CheckRound, stop: StopSignal,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) -> ChecksPart {
        let part = ChecksPart()
        let thread = NamedThread.start(name: "checks") { part.run(database, interval, round, stop, now) }
        part.thread.withLock { $0 = thread }
        return part
    }

    /// Whether it makes them, or waits for the lock of whoever does.
    var isReady: Bool { ready.load(ordering: .relaxed) }

    func shutDown(within limit: Duration) -> Bool { thread.withLock { $0 }?.join(for: limit) ?? true }

    private func run(
        _ database: Secret, _ interval: Int, _ round: CheckRound, _ stop: StopSignal, _ now: @Sendable () -> Int64
    ) {
        var backoff = Backoff()
        while !stop.isStopped {
            do {
                var connection = try Connection.open(database, applicationName: "purser-reconciliation checks")
                ready.store(true, ordering: .relaxed)
                guard try SingleRunner.wait(for: .checks, on: &connection, until: stop) else { break }
                round.instruments.active.set(1)
                round.logger.info("this copy makes the checks")
                backoff.reset()
                repeat {
                    try round.run(now: now(), on: &connection)
                } while !stop.wait(for: .milliseconds(interval))
            } catch {
                ready.store(false, ordering: .relaxed)
                round.logger.warning(
                    "the checks wait for the database",
                    ["error": .string((error as? PostgresError)?.code ?? "\(type(of: error))")])
                round.instruments.active.set(0)
                _ = stop.wait(for: backoff.next())
            }
        }
        ready.store(false, ordering: .relaxed)
        round.instruments.active.set(0)
    }
}
