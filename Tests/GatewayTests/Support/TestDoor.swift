import Apps
import HTTPServer
import JSON
import Messages
import Observability
import Pipeline
import Reloading
import Synchronization
import Testing
import WebSocket

@testable import Gateway

/// The gateway without sockets and broker: two apps, a scripted asker, captured log lines.
///
/// `clouds` is served at clouds.example; `games` at the same host under /games, with no service tokens.
struct TestDoor {
    let door: FrontDoor
    let asker: ScriptedAsker
    let apps: LiveApps
    let metrics = Metrics()
    let log = CapturedLog()
    /// What is behind the door: every answer of ``send`` is compared with their descriptions.
    let surfaces: Surfaces

    /// Answers by `script`, or by `other` if it is given.
    init(
        asker other: (any Asker)? = nil, users: RateLimiter? = nil, addresses: AddressLimits = AddressLimits(),
        sockets: WebSocketHub? = nil, receipts: ReceiptShare = ReceiptShare(most: 8),
        _ script: @escaping ScriptedAsker.Script = { _, _ in throw RequestError.timedOut }
    ) throws {
        asker = ScriptedAsker(script)
        let assets = [
            ServedApp.Asset(id: AssetID("DANBING"), jsonName: "danbing"),
            ServedApp.Asset(id: AssetID("TIME_MINUTES"), jsonName: "timeMinutes"),
        ]
        let clouds = ServedApp(
            id: AppID("clouds"), surface: .orders, assets: assets, login: try TestTokens.verifier("clouds", .login),
            service: try TestTokens.verifier("clouds", .service))
        let games = ServedApp(
            id: AppID("games"), surface: .orders, assets: [ServedApp.Asset(id: AssetID("GEM"), jsonName: "gems")],
            login: try TestTokens.verifier("games", .login), service: nil, pathPrefix: "/games")
        let points = ServedApp(
            id: AppID("points"), surface: .points, assets: [ServedApp.Asset(id: AssetID("POINTS"), jsonName: "points")],
            login: try TestTokens.verifier("points", .login), service: nil,
            identities: IdentityHasher(Self.identityKeys.map { .init(id: $0.id, secret: Secret(bytes: $0.secret)) }))
        let game = ServedApp(
            id: AppID("game"), surface: .game, assets: [ServedApp.Asset(id: AssetID("DIAMOND"), jsonName: "diamonds")],
            login: try TestTokens.verifier("game", .login), service: nil)
        let logger = Logger(service: "test", level: .debug, write: log.write)
        let security = SecurityLog(logger: logger, metrics: metrics)
        let surface = OrdersSurface(asker: other ?? asker, security: security, now: { TestTokens.now })
        let notifications = NotificationSurface(asker: other ?? asker, metrics: metrics, logger: logger)
        surfaces = Surfaces(
            [
                .orders: surface, .points: PointsSurface(asker: other ?? asker, security: security),
                .game: GameSurface(asker: other ?? asker, security: security, receipts: receipts),
            ],
            shared: notifications.endpoints)
        apps = LiveApps(
            AppDirectory([
                .init(hosts: ["clouds.example"], pathPrefix: "", app: clouds),
                .init(hosts: ["points.example"], pathPrefix: "", app: points),
                .init(hosts: ["game.example"], pathPrefix: "", app: game),
                .init(hosts: ["clouds.example", "games.example"], pathPrefix: "/games", app: games),
            ]))
        door = FrontDoor(
            apps: apps, surfaces: surfaces, authenticator: Authenticator(now: { TestTokens.now }), security: security,
            metrics: GatewayMetrics(metrics, routes: surfaces.routes, waiting: { 0 }, isBlocked: { false }),
            logger: logger, limits: MessageLimits(addresses: addresses, users: users), sockets: sockets)
    }

    /// The keys that callers of `points` are hashed with.
    static let identityKeys: [(id: String, secret: [UInt8])] = [
        ("identity-2", Array("the second key of the points app's people".utf8)),
        ("identity-1", Array("the first key of the points app's people".utf8)),
    ]

    /// Sends a request with a good login token of `clouds` unless told otherwise; `body` goes as JSON. An answer that the
    /// OpenAPI description does not have is an issue.
    func send(
        _ method: String, _ path: String, body: String? = nil, token: String?? = .none,
        host: String? = "clouds.example",
        contentType: String? = "application/json", query: [(name: String, value: String)] = [],
        more: [(name: String, value: String)] = []
    ) async throws -> HTTPResponse {
        var headers: [(name: String, value: String)] = []
        if let host { headers.append(("Host", host)) }
        let bearer = try token ?? TestTokens.make()
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        if body != nil, let contentType { headers.append(("Content-Type", contentType)) }
        let response = await door.answer(
            HTTPRequest(
                method: method, path: path, query: query, headers: headers + more, body: Array((body ?? "").utf8),
                remoteAddress: "192.0.2.7"))
        let kinds: [String?: AppConfiguration.Surface] = ["points.example": .points, "game.example": .game]
        let contract = Contract(surfaces, kinds[host] ?? .orders)
        for difference in contract?.differences(method, path, response) ?? [] {
            Issue.record("\(method) \(path): \(difference)")
        }
        return response
    }
}

/// Keeps every log line.
final class CapturedLog: Sendable {
    private let kept = Mutex<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    var write: Logger.Write { { [self] bytes in kept.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } } }

    /// The lines as JSON that have this message.
    func entries(_ message: String) throws -> [JSONObject] {
        try lines.map { try JSONReader.parseObject(Array($0.utf8.dropLast($0.hasSuffix("\n") ? 1 : 0))) }
            .filter { $0["message"]?.stringValue == message }
    }
}

extension HTTPResponse {
    var json: JSONObject { get throws { try JSONReader.parseObject(body) } }
    var text: String { String(decoding: body, as: UTF8.self) }
    func header(_ name: String) -> String? { headers.first { $0.0.lowercased() == name.lowercased() }?.1 }
    var code: String? { try? json["code"]?.stringValue }
}

/// JSON text without white space between its tokens, for comparing with the samples of the client's documents.
func compact(_ text: String) throws -> String {
    String(decoding: JSONWriter.write(try JSONReader.parse(Array(text.utf8))), as: UTF8.self)
}
