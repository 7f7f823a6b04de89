import AMQP
import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import Service
import Synchronization

/// The thread that keeps the journal. Every copy of the service has one; whoever holds the lock reads, the others wait.
final class JournalPart: ServicePart {
    let name = "journal"
    private let thread: Mutex<NamedThread?> = Mutex(nil)
    private let ready = Atomic<Bool>(false)
    private let active = Atomic<Bool>(false)

    private init() {}

    /// Starts the thread.
    static func start(
        broker: AMQPEndpoint, database: Secret, months: Int, _ context: Context, instruments: JournalMetrics,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }, probe: @escaping JournalProbe = { _ in }
    ) -> JournalPart {
        let part = JournalPart()
        let thread = NamedThread.start(name: "journal") {
            part.run(broker, database, months, context, instruments, now, probe)
        }
        part.thread.withLock { $0 = thread }
        return part
    }

    /// What stops it and where it tells.
    struct Context: Sendable {
        let stop: StopSignal
        let logger: Logger
    }

    /// Whether it reads, or waits for the lock of whoever does.
    var isReady: Bool { ready.load(ordering: .relaxed) }

    /// Whether it is the one that reads.
    var isActive: Bool { active.load(ordering: .relaxed) }

    func shutDown(within limit: Duration) -> Bool { thread.withLock { $0 }?.join(for: limit) ?? true }

    private func run(
        _ broker: AMQPEndpoint, _ database: Secret, _ months: Int, _ context: Context, _ instruments: JournalMetrics,
        _ now: @escaping @Sendable () -> Int64, _ probe: @escaping JournalProbe
    ) {
        var backoff = Backoff()
        while !context.stop.isStopped {
            do {
                var connection = try Connection.open(database, applicationName: "purser-reconciliation journal")
                ready.store(true, ordering: .relaxed)
                guard try SingleRunner.wait(for: .journal, on: &connection, until: context.stop) else { break }
                var reader = try JournalReader.open(
                    connection, broker: broker, instruments: instruments, logger: context.logger, now: now,
                    probe: probe)
                setActive(true, instruments)
                context.logger.info("this copy reads the stream of facts")
                backoff.reset()
                try reader.serve(months: months, until: context.stop)
            } catch let crash as SimulatedCrash {
                context.logger.warning("journal ended by its probe", ["crash.point": .string(crash.point.rawValue)])
                break
            } catch {
                ready.store(false, ordering: .relaxed)
                context.logger.warning("the journal lost a connection", ["error": .string(Self.describe(error))])
                setActive(false, instruments)
                _ = context.stop.wait(for: backoff.next())
            }
        }
        ready.store(false, ordering: .relaxed)
        setActive(false, instruments)
    }

    private func setActive(_ isActive: Bool, _ instruments: JournalMetrics) {
        active.store(isActive, ordering: .relaxed)
        instruments.active.set(isActive ? 1 : 0)
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case let error as AMQPError: error.code
        case let error as PostgresError: error.code
        default: "\(type(of: error))"
        }
    }
}
