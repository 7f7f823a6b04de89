import Messages
import Pipeline
import Service

/// Granting: what does a purchase entitle whom to?
enum GrantingProgram: ServiceProgram {
    static let name = "granting"

    /// Lanes a queue. On two cores one lane a queue is best (measured); more cores take more.
    struct Settings: Sendable {
        let purchaseLanes: Int
        let walletLanes: Int
        let queryLanes: Int
    }

    static var migrations: [Migration] {
        Migration.embedded([
            (name: "V001_schema.sql", bytes: PackageResources.V001_schema_sql),
            (name: "V002_customers_and_orders.sql", bytes: PackageResources.V002_customers_and_orders_sql),
            (name: "V003_catalog.sql", bytes: PackageResources.V003_catalog_sql),
            (name: "V004_transactions.sql", bytes: PackageResources.V004_transactions_sql),
            (name: "V005_wallet.sql", bytes: PackageResources.V005_wallet_sql),
            (name: "V006_facts.sql", bytes: PackageResources.V006_facts_sql),
            (name: "V007_rights.sql", bytes: PackageResources.V007_rights_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        func lanes(_ name: String, _ meaning: String) -> Int {
            reader.integer(name, default: 1, in: 1...16, meaning: meaning)
        }
        return Settings(
            purchaseLanes: lanes("PURCHASE_LANES", "threads that grant purchases"),
            walletLanes: lanes("WALLET_LANES", "threads that make orders and decide spends"),
            queryLanes: lanes("QUERY_LANES", "threads that answer questions"))
    }

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        start(Topology.grantingQueries, settings.queryLanes, context) { AnswerQueries() }
            + start(Topology.grantingCommands, 1, context) { RunCommands() }
            + start(Topology.grantingWallet, settings.walletLanes, context) { DecideWallet() }
            + start(Topology.grantingPurchases, settings.purchaseLanes, context) { GrantPurchases() }
    }

    private static func start(
        _ queue: Topology.Queue, _ lanes: Int, _ context: ServiceContext,
        makeHandler: @escaping @Sendable () throws -> any Handler
    ) -> [any ServicePart] {
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        return (0..<lanes).map { _ in
            let lane = Lane.start(
                configuration, stop: context.stop, logger: context.logger, metrics: context.metrics,
                makeHandler: makeHandler)
            return LanePart(lane, name: queue.name)
        }
    }
}
