import Messages
import Pipeline
import Service
import Trust

/// NotificationIntake: what did Apple tell us, once?
enum IntakeProgram: ServiceProgram {
    static let name = "intake"
    static let executable = "purser-notification-intake"

    /// Its settings besides the common ones.
    struct Settings: Sendable {
        /// Whom it believes.
        let trust: TrustFiles
        /// Lanes on `intake.notifications`.
        let lanes: Int
        /// What revoked certificates mean.
        let revocation: RevocationPolicy
    }

    static var migrations: [Migration] {
        Migration.embedded([
            ("V001_notifications.sql", PackageResources.V001_notifications_sql),
            ("V002_append_only.sql", PackageResources.V002_append_only_sql),
            ("V003_chains.sql", PackageResources.V003_chains_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        Settings(
            trust: TrustFiles(&reader),
            lanes: reader.integer(
                "LANES", default: 1, in: 1...16, meaning: "threads that verify; each has its own connections"),
            revocation: RevocationPolicy(&reader))
    }

    static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult] { settings.trust.check() }

    /// Deliveries in hand at most: 32 × 256 KiB, four times in memory while they are verified, are 32 MiB a lane.
    static let prefetch = 32

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        let trust = try settings.trust.load(context.logger)
        let metrics = IntakeMetrics(context.metrics)
        return lanes(Topology.intakeNotifications, settings.lanes, context) {
            StoreNotifications(
                verifier: try trust.verifier(), instruments: metrics, logger: context.logger,
                chains: ChainWatch(settings.revocation, service: name, metrics: context.metrics))
        }
            + lanes(Topology.intakeCommands, 1, context) {
                RedriveNotifications(verifier: try trust.verifier(), instruments: metrics, logger: context.logger)
            }
            + lanes(Topology.intakeRevocations, 1, context) { RecordChains(logger: context.logger) }
    }

    private static func lanes(
        _ queue: Topology.Queue, _ count: Int, _ context: ServiceContext,
        makeHandler: @escaping @Sendable () throws -> any Handler
    ) -> [any ServicePart] {
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        var configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        configuration.prefetch = prefetch
        // Apple has its answer: the gateway gave it.
        configuration.yieldsToOthers = true
        let limited = configuration
        return (0..<count).map { _ in
            let lane = Lane.start(
                limited, stop: context.stop, logger: context.logger, metrics: context.metrics, makeHandler: makeHandler)
            return LanePart(lane, name: queue.name)
        }
    }
}
