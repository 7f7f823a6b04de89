import HTTPServer
import Observability
import Pipeline
import Service

/// The gateway: HTTP in front, questions over the broker behind, no state of its own.
enum GatewayProgram: ServiceProgram {
    static let name = "gateway"
    static let migrations: [Migration] = []

    static func readSettings(_ reader: inout SettingsReader) -> GatewaySettings { GatewaySettings(&reader) }

    static func start(_ settings: GatewaySettings, _ context: ServiceContext) throws -> [any ServicePart] {
        guard let broker = context.common.broker else { throw GatewayError.noBroker }
        let apps = settings.apps
        guard apps.count > 0 else { throw GatewayError.noApps }
        let requester = Requester.start(user: name, broker: broker, logger: context.logger)
        let security = SecurityLog(logger: context.logger, metrics: context.metrics)
        let surface = OrdersSurface(asker: requester, security: security, now: { WallClock.milliseconds })
        let notifications = NotificationSurface(asker: requester, metrics: context.metrics, logger: context.logger)
        let endpoints = surface.endpoints + notifications.endpoints
        let metrics = GatewayMetrics(
            context.metrics, routes: endpoints.map(\.endpoint.route), waiting: { requester.waiting },
            isBlocked: { requester.isBlocked })
        let limits = settings.limits
        let door = FrontDoor(
            apps: apps, router: Router(endpoints), authenticator: Authenticator(now: { WallClock.milliseconds }),
            security: security, metrics: metrics, logger: context.logger,
            users: .ifLimited(perSecond: limits.userRate, burst: limits.userBurst))
        let gate = ClientGate(
            limits, routes: NotificationSurface.rules(limits), limited: metrics.count, refuse: door.refuse)
        let server = try HTTPServer.start(
            settings.serverConfiguration(refuse: door.refuse, gate: gate),
            bodyLimit: { _, path in NotificationSurface.bodyLimit(path: path) ?? OrdersSurface.bodyLimit(path: path) },
            handler: door.answer)
        context.logger.info(
            "listening",
            ["http.address": .string(settings.address), "http.port": .int(Int(server.port)), "apps": .int(apps.count)])
        return [RequesterPart(requester: requester), ListenerPart(server: server)]
    }
}

/// Why the gateway cannot serve at all.
enum GatewayError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No broker is configured.
    case noBroker
    /// No app of the folder uses a surface that this version serves.
    case noApps

    /// Stable, dotted.
    var code: String {
        switch self {
        case .noBroker: "gateway.no_broker"
        case .noApps: "gateway.no_apps"
        }
    }

    /// A setting has to change first.
    var isRetryable: Bool { false }

    var description: String {
        switch self {
        case .noBroker: "no broker is configured; set AMQP_URL"
        case .noApps: "no app in the folder has the surface `orders`"
        }
    }
}
