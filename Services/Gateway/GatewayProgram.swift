import Apps
import HTTPServer
import Observability
import Pipeline
import Reloading
import Service
import WebSocket

/// The gateway: HTTP in front, questions over the broker behind, no state of its own.
enum GatewayProgram: ServiceProgram {
    static let name = "gateway"
    static let migrations: [Migration] = []

    static func readSettings(_ reader: inout SettingsReader) -> GatewaySettings { GatewaySettings(&reader) }

    static func start(_ settings: GatewaySettings, _ context: ServiceContext) throws -> [any ServicePart] {
        guard let broker = context.common.broker else { throw GatewayError.noBroker }
        guard settings.apps.directory.count > 0 else { throw GatewayError.noApps }
        let apps = LiveApps(settings.apps.directory)
        let requester = Requester.start(user: name, broker: broker, logger: context.logger)
        let security = SecurityLog(logger: context.logger, metrics: context.metrics)
        let surfaces = surfaces(requester, security, settings, context)
        let metrics = GatewayMetrics(
            context.metrics, routes: surfaces.routes, waiting: { requester.waiting },
            isBlocked: { requester.isBlocked })
        let limits = settings.limits
        let addresses = AddressLimits(limits, rules: NotificationSurface.rules(limits))
        let hub = try sockets(settings, context)
        let door = FrontDoor(
            apps: apps, surfaces: surfaces, authenticator: Authenticator(now: { WallClock.milliseconds }),
            security: security, metrics: metrics, logger: context.logger,
            limits: MessageLimits(
                addresses: addresses, unlimited: limits.unlimitedAddresses,
                users: .ifLimited(perSecond: limits.userRate, burst: limits.userBurst)), sockets: hub)
        let gate = ClientGate(limits, requests: addresses, limited: metrics.count, refuse: door.refuse)
        let server = try HTTPServer.start(
            settings.serverConfiguration(refuse: door.refuse, gate: gate),
            bodyLimit: { _, path in Surfaces.bodyLimit(path: path) },
            handler: door.answer)
        context.logger.info(
            "listening",
            [
                "http.address": .string(settings.address), "http.port": .int(Int(server.port)),
                "apps": .int(apps.value.count),
            ])
        var parts: [any ServicePart] = [
            RequesterPart(requester: requester), SocketsPart(hub: hub), ListenerPart(server: server),
        ]
        if let interval = settings.appsInterval {
            let folder = settings.appsFolder
            let watch = AppsWatch(
                folder: folder, live: apps, first: settings.apps.reading, logger: context.logger,
                metrics: context.metrics
            ) { AppFiles.read(folder).reading }
            parts.append(AppsWatchPart.start(watch, every: interval, stop: context.stop))
        }
        return parts
    }

    /// Every kind of app's calls. A new surface is a type here and a case of `AppConfiguration.Surface`.
    private static func surfaces(
        _ asker: Requester, _ security: SecurityLog, _ settings: GatewaySettings, _ context: ServiceContext
    ) -> Surfaces {
        let now: @Sendable () -> Int64 = { WallClock.milliseconds }
        let notifications = NotificationSurface(asker: asker, metrics: context.metrics, logger: context.logger)
        return Surfaces(
            [
                .orders: OrdersSurface(asker: asker, security: security, now: now),
                .points: PointsSurface(asker: asker, security: security),
                .game: GameSurface(
                    asker: asker, security: security, receipts: ReceiptShare(most: settings.maximumReceiptsInFlight)),
            ], shared: notifications.endpoints)
    }

    /// The WebSockets, and descriptors enough for them.
    private static func sockets(_ settings: GatewaySettings, _ context: ServiceContext) throws -> WebSocketHub {
        let needed = settings.maximumConnections + settings.maximumSockets + DescriptorLimit.others
        let allowed = DescriptorLimit.raise(to: needed)
        if allowed < needed {
            context.logger.warning(
                "the system allows too few open files for all sockets",
                ["descriptors.allowed": .int(allowed), "descriptors.needed": .int(needed)])
        }
        guard let hub = WebSocketHub.start(settings.socketLimits) else { throw GatewayError.noDescriptors }
        context.metrics.gauge("purser_gateway_sockets", help: "Open WebSockets, and handshakes under way.") {
            Double(hub.count)
        }
        return hub
    }
}

/// Why the gateway cannot serve at all.
enum GatewayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No broker is configured.
    case noBroker
    /// The folder has no app.
    case noApps
    /// The system has no descriptors left.
    case noDescriptors

    /// Stable, dotted.
    var code: String {
        switch self {
        case .noBroker: "gateway.no_broker"
        case .noApps: "gateway.no_apps"
        case .noDescriptors: "gateway.no_descriptors"
        }
    }

    /// A setting has to change first.
    var isRetryable: Bool { false }

    var description: String {
        switch self {
        case .noBroker: "no broker is configured; set AMQP_URL"
        case .noApps: "the folder has no app"
        case .noDescriptors: "the system has no file descriptors left"
        }
    }
}
