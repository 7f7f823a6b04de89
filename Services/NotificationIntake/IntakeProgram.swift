import Apps
import Messages
import Observability
import Pipeline
import Reloading
import Runtime
import ServerAPIAccess
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
        /// When consumption requests are answered.
        let consumption: ConsumptionSettings
        /// Where Apple is told.
        let serverAPI: ServerAPISettings
    }

    static var migrations: [Migration] {
        Migration.embedded([
            ("V001_notifications.sql", PackageResources.V001_notifications_sql),
            ("V002_append_only.sql", PackageResources.V002_append_only_sql),
            ("V003_chains.sql", PackageResources.V003_chains_sql),
            ("V004_consumption.sql", PackageResources.V004_consumption_sql),
            ("V005_deadlines.sql", PackageResources.V005_deadlines_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        Settings(
            trust: TrustFiles(&reader),
            lanes: reader.integer(
                "LANES", default: 1, in: 1...16, meaning: "threads that verify; each has its own connections"),
            revocation: RevocationPolicy(&reader), consumption: ConsumptionSettings(&reader),
            // Reconciliation and support share the rate, and there may be copies; 5 a second are plenty for refunds.
            serverAPI: ServerAPISettings(&reader, percent: 10))
    }

    static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult] {
        settings.trust.check()
            + AppStoreAccess.check(
                appsFolder: settings.trust.appsFolder, reasonToWant: IntakeApps.reasonForKey)
    }

    /// Deliveries in hand at most: 32 × 256 KiB, four times in memory while they are verified, are 32 MiB a lane.
    static let prefetch = 32

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        let logger = context.logger
        let (live, watching) = try settings.trust.follow(
            context, files: { $0.compactMap { $0.appStoreConnect?.file } },
            make: { IntakeApps(trust: $0, apps: $1, logger: logger) })
        let metrics = IntakeMetrics(context.metrics)
        let schedule = settings.consumption.schedule
        return watching + consumption(settings, live, context)
            + lanes(Topology.intakeNotifications, settings.lanes, context) {
                let follower = Follower(live)
                return StoreNotifications(
                    verifier: try live.value.trust.verifier(), follower: follower, instruments: metrics,
                    logger: context.logger,
                    chains: ChainWatch(settings.revocation, service: name, metrics: context.metrics),
                    store: NotificationStore(consumption: schedule))
            }
            + lanes(Topology.intakeCommands, 1, context) {
                let follower = Follower(live)
                return RedriveNotifications(
                    verifier: try live.value.trust.verifier(), follower: follower, instruments: metrics,
                    logger: context.logger)
            }
            + lanes(Topology.intakeRevocations, 1, context) { RecordChains(logger: context.logger) }
            + lanes(Topology.intakeQueries, 1, context) { AnswerQueries() }
    }

    /// The way to Granting, and the thread that answers consumption requests.
    private static func consumption(
        _ settings: Settings, _ live: Live<IntakeApps>, _ context: ServiceContext
    ) -> [any ServicePart] {
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let instruments = ConsumptionMetrics(context.metrics)
        let requester = Requester.start(user: name, broker: broker, logger: context.logger)
        let schedule = settings.consumption.schedule
        let part = ConsumptionPart.start(
            .init(database: database, schedule: schedule, interval: settings.consumption.interval), context, instruments
        ) {
            AnswerConsumption(
                schedule: schedule, assessor: GrantingAssessor(requester: requester),
                door: ServerAPIDoor(live, settings.serverAPI, stop: context.stop), instruments: instruments,
                logger: context.logger, stop: context.stop)
        }
        return [QuestionsPart(requester: requester), part]
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

/// What the apps' files say to Intake.
struct IntakeApps: Sendable {
    /// Whom it believes.
    let trust: TrustSettings
    /// Whom it may speak for.
    let access: AppStoreAccess

    /// Reads the apps' keys. An unusable one is told; its app's requests wait.
    init(trust: TrustSettings, apps: [AppConfiguration], logger: Logger) {
        self.trust = trust
        let (access, problems) = AppStoreAccess.read(apps, reasonToWant: Self.reasonForKey)
        self.access = access
        for problem in problems {
            logger.error(
                "Apple cannot be told about consumption",
                ["app": .string(problem.app.rawValue), "problem": .string(problem.text)])
        }
    }

    /// Why an app needs a key here.
    static func reasonForKey(_ app: AppConfiguration) -> String? {
        app.catalog.definition.policies.consumption == nil ? nil : "policies say `consumption: answer`"
    }
}

/// The questions that Intake asks Granting.
private struct QuestionsPart: ServicePart {
    let requester: Requester
    let name = "questions"
    var isReady: Bool { requester.isReady }

    /// Stopped after who asks.
    func shutDown(within limit: Duration) -> Bool {
        let deadline = ContinuousClock.now + limit
        requester.shutDown(within: limit)
        return ContinuousClock.now < deadline
    }
}
