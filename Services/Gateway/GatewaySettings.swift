import HTTPServer
import Pipeline
import Reloading
import Service
import WebSocket

/// The gateway's own settings, `PURSER_GATEWAY_…`.
struct GatewaySettings: Sendable {
    /// Where clients are served; behind a proxy that speaks TLS.
    var address: String
    /// The port; 0 takes a free one and logs it.
    var port: Int
    /// Event loops of the HTTP server.
    var threads: Int
    /// The folder of the apps' files.
    var appsFolder: String
    /// The apps that are served from the start; none if there is a problem with them.
    var apps: AppFiles
    /// How often the folder is looked at for changes; nil: never.
    var appsInterval: Duration?
    /// Requests being answered; more get 503 at once.
    var maximumInFlight: Int
    /// Open connections; more wait in the kernel.
    var maximumConnections: Int
    /// Open connections of one address; 0 = no limit.
    var maximumConnectionsPerAddress: Int
    /// Requests of one client being answered; 0 = no limit.
    var maximumInFlightPerAddress: Int
    /// Bytes of bodies of all requests being answered.
    var maximumBodyBytesInFlight: Int
    /// Notifications of Apple being made durable; more get 503 at once.
    var maximumNotificationsInFlight: Int
    /// Receipts being verified; more get 503 at once.
    var maximumReceiptsInFlight: Int
    /// Open WebSockets.
    var maximumSockets: Int
    /// Open WebSockets of one address.
    var maximumSocketsPerAddress: Int
    /// What one client may do, and who is one.
    var limits: LimitSettings

    /// An eighth of all: one client that sends its bodies slowly, or asks what takes long, cannot use them up. A request
    /// takes some milliseconds, so this is far above what an address may ask in a second.
    static let usualInFlightPerAddress = 64

    /// Bytes of notifications being received: 64 of the largest, a thousand usual ones.
    static let notificationBytesInFlight = 16 << 20

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        let server = HTTPServer.Configuration()
        address = reader.text("HTTP_ADDRESS", default: "127.0.0.1", meaning: "where clients are served")
        port = reader.integer("HTTP_PORT", default: 8_080, in: 0...65_535, meaning: "its port; 0 takes any free one")
        threads = reader.integer(
            "HTTP_THREADS", default: server.threads, in: 1...64,
            meaning: "event loops; one moves 40,000 small requests a second")
        appsFolder = reader.text("APPS", meaning: "the folder with one <app>.yaml an app")
        apps = appsFolder.isEmpty ? AppFiles() : AppFiles.read(appsFolder)
        for problem in apps.problems { reader.problem("APPS", "has a mistake at \(problem)") }
        appsInterval = ReloadSetting.read(&reader)
        maximumInFlight = reader.integer(
            "MAXIMUM_IN_FLIGHT", default: server.maximumInFlight, in: 1...100_000,
            meaning: "requests being answered; more get 503 at once")
        maximumConnections = reader.integer(
            "MAXIMUM_CONNECTIONS", default: server.maximumConnections, in: 1...100_000, meaning: "open connections")
        maximumConnectionsPerAddress = reader.integer(
            "MAXIMUM_CONNECTIONS_PER_ADDRESS", default: server.maximumConnectionsPerAddress, in: 0...100_000,
            meaning: "open connections of one address, trusted proxies excepted; 0 = no limit")
        maximumInFlightPerAddress = reader.integer(
            "MAXIMUM_IN_FLIGHT_PER_ADDRESS", default: Self.usualInFlightPerAddress, in: 0...100_000,
            meaning: "requests of one address being answered; more get 429; 0 = no limit")
        maximumBodyBytesInFlight = reader.integer(
            "MAXIMUM_BODY_BYTES_IN_FLIGHT", default: server.maximumBodyBytesInFlight, in: (1 << 20)...(1 << 30),
            meaning: "bytes of all bodies being received or answered; more get 503 at once")
        // Below what may wait for the broker at once, so that the wait is bounded where it is cheap.
        maximumNotificationsInFlight = reader.integer(
            "MAXIMUM_NOTIFICATIONS_IN_FLIGHT", default: 256, in: 1...Requester.tellLimit,
            meaning: "notifications of Apple being made durable; more get 503 at once, and count in no other limit")
        // As many as a busy game sends in a tenth of a second; their bytes are limited besides.
        maximumReceiptsInFlight = reader.integer(
            "MAXIMUM_RECEIPTS_IN_FLIGHT", default: 128, in: 1...10_000,
            meaning: "receipts of games being verified; more get 503 at once")
        let sockets = WebSocketLimits()
        maximumSockets = reader.integer(
            "MAXIMUM_SOCKETS", default: sockets.maximumConnections, in: 1...100_000,
            meaning: "open WebSockets of games; more get 503")
        maximumSocketsPerAddress = reader.integer(
            "MAXIMUM_SOCKETS_PER_ADDRESS", default: sockets.maximumConnectionsPerAddress, in: 1...100_000,
            meaning: "open WebSockets of one address, also behind a proxy; more get 429")
        limits = LimitSettings(&reader)
    }

    /// What peers of WebSockets may do.
    var socketLimits: WebSocketLimits {
        var limits = WebSocketLimits()
        limits.maximumConnections = maximumSockets
        limits.maximumConnectionsPerAddress = maximumSocketsPerAddress
        limits.maximumMessageBytes = ReceiptBody.longestBody
        // Those that are being verified, and as much again that is being received.
        limits.maximumBufferedBytes = 2 * ReceiptShare.usualBytes
        return limits
    }

    /// How the HTTP server is set up. `refuse` answers what the server itself refuses, `gate` decides who is let in.
    func serverConfiguration(
        refuse: @escaping @Sendable (HTTPFailure) -> HTTPResponse, gate: any Gatekeeper
    ) -> HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.address = address
        configuration.port = UInt16(clamping: port)
        configuration.threads = threads
        configuration.maximumInFlight = maximumInFlight
        configuration.maximumConnections = maximumConnections
        configuration.maximumConnectionsPerAddress = maximumConnectionsPerAddress
        configuration.maximumInFlightPerAddress = maximumInFlightPerAddress
        configuration.maximumBodyBytesInFlight = maximumBodyBytesInFlight
        configuration.apart = [
            HTTPServer.Apart(
                HTTPServer.Share(requests: maximumNotificationsInFlight, bodyBytes: Self.notificationBytesInFlight),
                isMember: NotificationSurface.isAddress),
            HTTPServer.Apart(
                HTTPServer.Share(
                    requests: maximumReceiptsInFlight, bodyBytes: ReceiptShare.usualBytes,
                    bodyBytesPerAddress: ReceiptShare.usualBytes / 4),
                isMember: GameSurface.isReceipt),
        ]
        configuration.gatekeeper = gate
        configuration.errorResponse = refuse
        return configuration
    }
}
