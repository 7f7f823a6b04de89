import AMQP
import Messages
import Observability
import Pipeline
import Runtime
import Service

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
        return [
            QuestionsPart(requester: requester),
            JournalPart.start(
                broker: broker, database: database, months: settings.journalMonths,
                .init(stop: context.stop, logger: logger), instruments: JournalMetrics(context.metrics)),
            ChecksPart.start(database: database, interval: settings.interval, round: round, stop: context.stop),
            LanePart(lane, name: queue.name),
        ]
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
