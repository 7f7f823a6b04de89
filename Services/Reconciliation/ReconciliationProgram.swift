import AMQP
import AppStoreServerAPI
import Apps
import Messages
import Observability
import Pipeline
import Reloading
import Runtime
import ServerAPIAccess
import Service
import Trust

/// Reconciliation: do all the books agree?
enum ReconciliationProgram: ServiceProgram {
    static let name = "reconciliation"

    static var migrations: [Migration] {
        Migration.embedded([
            ("V001_journal.sql", PackageResources.V001_journal_sql),
            ("V002_findings.sql", PackageResources.V002_findings_sql),
            ("V003_purchases.sql", PackageResources.V003_purchases_sql),
            ("V004_sales.sql", PackageResources.V004_sales_sql),
            ("V005_books.sql", PackageResources.V005_books_sql),
            ("V006_apple.sql", PackageResources.V006_apple_sql),
            ("V007_daily.sql", PackageResources.V007_daily_sql),
            ("V008_apple_accounts.sql", PackageResources.V008_apple_accounts_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> ReconciliationSettings {
        ReconciliationSettings(&reader)
    }

    static func start(_ settings: ReconciliationSettings, _ context: ServiceContext) throws -> [any ServicePart] {
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let requester = Requester.start(user: name, broker: broker, logger: context.logger)
        let sources = BrokerSources(requester: requester) { try ParkedQueues.count(broker) }
        let round = CheckRound(
            settings: .init(
                decisionTime: settings.decisionTime, waitingTime: settings.waitingTime,
                sales: settings.sales), sources: sources,
            instruments: CheckMetrics(context.metrics), logger: context.logger)
        let queue = Topology.reconciliationCommands
        let logger = context.logger
        let lane = Lane.start(
            LaneConfiguration(service: name, queue: queue, broker: broker, database: database), stop: context.stop,
            logger: logger, metrics: context.metrics
        ) { RunCommands(logger: logger) }
        let (apps, watching) = try follow(settings.apple, context)
        return [
            QuestionsPart(requester: requester),
            JournalPart.start(
                broker: broker, database: database, months: settings.journalMonths,
                .init(stop: context.stop, logger: logger), instruments: JournalMetrics(context.metrics)),
            ChecksPart.start(database: database, interval: settings.interval, round: round, stop: context.stop),
            DailyPart.start(
                database: database, work: daily(settings, sources, apps, context), stop: context.stop),
            LanePart(lane, name: queue.name), lookups(settings.apple, broker, database, apps, context),
        ] + watching + apple(settings.apple, database, sources, apps, context)
    }

    static func check(_ settings: ReconciliationSettings, _ common: CommonSettings) -> [CheckResult] {
        settings.apple.files.map { AppStoreAccess.check(appsFolder: $0.folder) } ?? []
    }

    /// The apps' files, if their folder is named.
    private static func follow(
        _ settings: AppleSettings, _ context: ServiceContext
    ) throws -> (apps: Live<FollowedApps>?, watching: [any ServicePart]) {
        let logger = context.logger
        guard let files = settings.files else {
            logger.warning("Apple is asked nothing, and every day is UTC's: APPS names no folder")
            return (nil, [])
        }
        let followed = try files.follow(
            context, files: { $0.compactMap { $0.appStoreConnect?.file } }, make: { FollowedApps($0, logger: logger) })
        return (followed.live, followed.parts)
    }

    /// Whoever asks Apple, if it is known for whom.
    private static func apple(
        _ settings: AppleSettings, _ database: Secret, _ sources: BrokerSources, _ apps: Live<FollowedApps>?,
        _ context: ServiceContext
    ) -> [any ServicePart] {
        let stop = context.stop
        return apps.map { live in
            let part = ApplePart.start(
                .init(
                    database: database, interval: settings.interval, pass: settings.pass,
                    instruments: AppleMetrics(context.metrics), logger: context.logger, stop: stop),
                apps: live, sources: sources
            ) { ServerAPIDoor($0.access, settings.serverAPI, stop: stop) }
            return [part]
        } ?? []
    }
}

extension ReconciliationProgram {
    /// The lane that asks Apple for operators.
    private static func lookups(
        _ settings: AppleSettings, _ broker: AMQPEndpoint, _ database: Secret, _ apps: Live<FollowedApps>?,
        _ context: ServiceContext
    ) -> LanePart {
        let queue = Topology.reconciliationLookups
        var configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        // Each takes seconds: what one copy has in hand another could answer.
        configuration.prefetch = 1
        let (logger, stop) = (context.logger, context.stop)
        let lane = Lane.start(configuration, stop: stop, logger: logger, metrics: context.metrics) {
            let known = apps?.value ?? FollowedApps([], logger: logger)
            return AnswerOrderLookups(
                door: ServerAPIOrderDoor(known.access, settings.serverAPI, stop: stop), places: known.places,
                follower: apps.map { Follower($0) },
                trust: {
                    guard let folder = settings.files?.folder else { return nil }
                    return try? TrustSettings.load(appsFolder: folder, rootsFile: settings.rootsFile).get()
                })
        }
        return LanePart(lane, name: queue.name)
    }

    private static func daily(
        _ settings: ReconciliationSettings, _ sources: BrokerSources, _ apps: Live<FollowedApps>?,
        _ context: ServiceContext
    ) -> DailyPart.Work {
        DailyPart.Work(
            run: DailyRun(sources: sources, decisionTime: settings.decisionTime, logger: context.logger),
            settings: settings.daily, zones: { apps?.value.zones ?? [:] }, instruments: DailyMetrics(context.metrics))
    }
}

/// The questions that the checks ask.
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
