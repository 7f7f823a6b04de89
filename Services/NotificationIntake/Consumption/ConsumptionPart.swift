import Messages
import Observability
import Pipeline
import Postgres
import Runtime
import Service
import Synchronization

/// The thread that answers consumption requests. Every copy of the service has one.
final class ConsumptionPart: ServicePart {
    let name = "consumption"
    private let thread: Mutex<NamedThread?> = Mutex(nil)
    private let ready = Atomic<Bool>(false)

    /// How it works.
    struct Configuration: Sendable {
        let database: Secret
        let schedule: ConsumptionSchedule
        /// Between looks at the table (ms).
        let interval: Int
    }

    /// Warnings and gauges at least so often (ms), and twenty times before the first warning is due.
    private static let watchInterval: Int64 = 5_000

    private init() {}

    /// Starts the thread; `makeAnswer` runs on it, anew after every lost connection.
    static func start(
        _ configuration: Configuration, _ context: ServiceContext, _ instruments: ConsumptionMetrics,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds },
        makeAnswer: @escaping @Sendable () -> AnswerConsumption
    ) -> ConsumptionPart {
        let part = ConsumptionPart()
        let watch = ConsumptionWatch(
            schedule: configuration.schedule, instruments: instruments, logger: context.logger)
        let thread = NamedThread.start(name: "consumption") {
            part.run(configuration, context, watch, now, makeAnswer())
        }
        part.thread.withLock { $0 = thread }
        return part
    }

    var isReady: Bool { ready.load(ordering: .relaxed) }

    func shutDown(within limit: Duration) -> Bool { thread.withLock { $0 }?.join(for: limit) ?? true }

    private func run(
        _ configuration: Configuration, _ context: ServiceContext, _ watch: ConsumptionWatch,
        _ now: @Sendable () -> Int64, _ made: AnswerConsumption
    ) {
        var answer = made
        var backoff = Backoff()
        while !context.stop.isStopped {
            do {
                var connection = try Connection.open(
                    configuration.database, applicationName: "purser-intake consumption")
                ready.store(true, ordering: .relaxed)
                backoff.reset()
                try serve(configuration, context.stop, watch, now, &answer, &connection)
            } catch {
                ready.store(false, ordering: .relaxed)
                context.logger.warning(
                    "consumption requests wait for the database",
                    ["error": .string((error as? PostgresError)?.code ?? "\(type(of: error))")])
                _ = context.stop.wait(for: backoff.next())
            }
        }
        ready.store(false, ordering: .relaxed)
    }

    private func serve(
        _ configuration: Configuration, _ stop: StopSignal, _ watch: ConsumptionWatch, _ now: @Sendable () -> Int64,
        _ answer: inout AnswerConsumption, _ connection: inout Connection
    ) throws {
        let interval = Duration.milliseconds(configuration.interval)
        let between = min(Self.watchInterval, max(1, configuration.schedule.firstAlert / 20))
        var looked = Int64.min
        while !stop.isStopped {
            if looked == .min || now() >= looked + between {
                try watch.look(now(), on: &connection)
                looked = now()
            }
            if try !answer.answerNext(on: &connection), stop.wait(for: interval) { return }
        }
    }
}
