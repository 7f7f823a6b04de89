import Messages
import Observability
import Pipeline
import Postgres
import Reloading
import Runtime
import Service
import Synchronization

/// The thread that asks Apple. Every copy of the service has one; whoever holds the lock asks.
final class ApplePart: ServicePart {
    let name = "apple"
    private let thread: Mutex<NamedThread?> = Mutex(nil)
    private let ready = Atomic<Bool>(false)

    /// How it works.
    struct Configuration: Sendable {
        let database: Secret
        /// Between two passes (ms).
        let interval: Int64
        let pass: ApplePassSettings
        let instruments: AppleMetrics
        let logger: Logger
        let stop: StopSignal
        var now: @Sendable () -> Int64 = { WallClock.milliseconds }
    }

    private init() {}

    /// Starts the thread; `makeDoor` runs on it.
    static func start(
        _ configuration: Configuration, apps: Live<FollowedApps>, sources: any AppleSources,
        makeDoor: @escaping @Sendable (FollowedApps) -> any AppleDoor
    ) -> ApplePart {
        let part = ApplePart()
        let thread = NamedThread.start(name: "apple") { part.run(configuration, apps, sources, makeDoor) }
        part.thread.withLock { $0 = thread }
        return part
    }

    /// Whether it asks, or waits for the lock of whoever does.
    var isReady: Bool { ready.load(ordering: .relaxed) }

    func shutDown(within limit: Duration) -> Bool { thread.withLock { $0 }?.join(for: limit) ?? true }

    private func run(
        _ configuration: Configuration, _ live: Live<FollowedApps>, _ sources: any AppleSources,
        _ makeDoor: (FollowedApps) -> any AppleDoor
    ) {
        var backoff = Backoff()
        var desk = Desk(configuration, live, sources, makeDoor(live.value))
        while !configuration.stop.isStopped {
            do {
                var connection = try Connection.open(
                    configuration.database, applicationName: "purser-reconciliation apple")
                ready.store(true, ordering: .relaxed)
                guard try SingleRunner.wait(for: .apple, on: &connection, until: configuration.stop) else { break }
                configuration.instruments.active.set(1)
                configuration.logger.info("this copy asks Apple")
                backoff.reset()
                repeat { try desk.work(&connection) } while !configuration.stop.wait(for: desk.rest)
            } catch {
                ready.store(false, ordering: .relaxed)
                configuration.logger.warning(
                    "the comparison with Apple waits for the database",
                    ["error": .string((error as? PostgresError)?.code ?? "\(type(of: error))")])
                configuration.instruments.active.set(0)
                _ = configuration.stop.wait(for: backoff.next())
            }
        }
        ready.store(false, ordering: .relaxed)
        configuration.instruments.active.set(0)
    }

    /// What the thread has before it: passes when they are due, and between them what is handed in.
    private struct Desk {
        private let configuration: Configuration
        private var follower: Follower<FollowedApps>
        private var apps: FollowedApps
        private let door: any AppleDoor
        private var pass: ApplePass
        private let round: FeedRound
        private var nextPass: Int64 = 0
        private var nextRound: Int64 = 0

        /// Between two looks at what is handed in (ms): services that run answer in less.
        private static let roundInterval: Int64 = 1_000

        init(
            _ configuration: Configuration, _ live: Live<FollowedApps>, _ sources: any AppleSources,
            _ door: any AppleDoor
        ) {
            self.configuration = configuration
            self.door = door
            follower = Follower(live)
            apps = live.value
            let (instruments, logger) = (configuration.instruments, configuration.logger)
            pass = ApplePass(
                settings: configuration.pass, door: door, sources: sources, instruments: instruments, logger: logger)
            round = FeedRound(sources: sources, instruments: instruments, logger: logger)
        }

        var rest: Duration { .milliseconds(min(Self.roundInterval, configuration.interval)) }

        mutating func work(_ connection: inout Connection) throws {
            if let changed = follower.changed() {
                apps = changed
                door.replace(changed.access)
                nextPass = 0
            }
            let time = configuration.now()
            if time >= nextPass {
                nextPass = time + configuration.interval
                try runPass(time, &connection)
            }
            try round.run(now: configuration.now(), on: &connection)
        }

        private mutating func runPass(_ time: Int64, _ connection: inout Connection) throws {
            var (pass, nextRound) = (pass, nextRound)
            defer { (self.pass, self.nextRound) = (pass, nextRound) }
            do {
                try pass.run(apps.places, now: time, on: &connection) { connection in
                    let now = configuration.now()
                    if now >= nextRound {
                        nextRound = now + Self.roundInterval
                        try round.run(now: now, on: &connection)
                    }
                    return !configuration.stop.isStopped
                }
            } catch let error as PostgresError {
                throw error
            } catch {
                // The other services, or the broker, do not answer: what Apple told is compared next time.
                configuration.logger.warning(
                    "what Apple has told cannot be compared now",
                    ["error": .string((error as? RequestError)?.code ?? "\(type(of: error))")])
            }
        }
    }
}
