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
        let notificationLanes: Int
        let queryLanes: Int
    }

    static var migrations: [Migration] { GrantingSchema.migrations }
    static var commands: [ServiceCommand] { [RestoreCommand.command] }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        func lanes(_ name: String, _ meaning: String) -> Int {
            reader.integer(name, default: 1, in: 1...16, meaning: meaning)
        }
        return Settings(
            purchaseLanes: lanes("PURCHASE_LANES", "threads that grant purchases"),
            walletLanes: lanes("WALLET_LANES", "threads that make orders and decide spends"),
            notificationLanes: lanes("NOTIFICATION_LANES", "threads that apply Apple's notifications"),
            queryLanes: lanes("QUERY_LANES", "threads that answer questions"))
    }

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        watching(context)
            + start(Topology.grantingQueries, settings.queryLanes, context) { AnswerQueries() }
            + start(Topology.grantingCommands, 1, context) { RunCommands() }
            + start(Topology.grantingWallet, settings.walletLanes, context) { DecideWallet() }
            + start(Topology.grantingNotifications, settings.notificationLanes, context) { ApplyNotifications() }
            + start(Topology.grantingPurchases, settings.purchaseLanes, context) { GrantPurchases() }
    }

    private static func watching(_ context: ServiceContext) -> [any ServicePart] {
        context.common.database.map { [HeldWatchPart.start(context, $0)] } ?? []
    }

    private static func start(
        _ queue: Topology.Queue, _ lanes: Int, _ context: ServiceContext,
        makeHandler: @escaping @Sendable () throws -> any Handler
    ) -> [any ServicePart] {
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        var lane = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        // Apple has its answer: the gateway gave it. Whoever sends a purchase or spends waits for theirs.
        lane.yieldsToOthers = queue.name == Topology.grantingNotifications.name
        lane.noting = RefundLines.write
        let configuration = lane
        return (0..<lanes).map { _ in
            let lane = Lane.start(
                configuration, stop: context.stop, logger: context.logger, metrics: context.metrics,
                makeHandler: makeHandler)
            return LanePart(lane, name: queue.name)
        }
    }
}
