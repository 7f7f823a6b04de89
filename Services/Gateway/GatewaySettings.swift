import HTTPServer
import Service

/// The gateway's own settings, `PURSER_GATEWAY_…`.
struct GatewaySettings: Sendable {
    /// Where clients are served; behind a proxy that speaks TLS.
    var address: String
    /// The port; 0 takes a free one and logs it.
    var port: Int
    /// Event loops of the HTTP server.
    var threads: Int
    /// The apps that are served; empty if there is a problem with them.
    var apps: AppDirectory
    /// Requests being answered; more get 503 at once.
    var maximumInFlight: Int
    /// Open connections; more wait in the kernel.
    var maximumConnections: Int
    /// Open connections of one address; 0 = no limit.
    var maximumConnectionsPerAddress: Int
    /// The header in which a trusted proxy names the client's address; nil = the peer is the client.
    var clientAddressHeader: String?

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        let server = HTTPServer.Configuration()
        address = reader.text("HTTP_ADDRESS", default: "127.0.0.1", meaning: "where clients are served")
        port = reader.integer("HTTP_PORT", default: 8_080, in: 0...65_535, meaning: "its port; 0 takes any free one")
        threads = reader.integer(
            "HTTP_THREADS", default: server.threads, in: 1...64,
            meaning: "event loops; one moves 40,000 small requests a second")
        let folder = reader.text("APPS", meaning: "the folder with one <app>.yaml an app")
        apps = folder.isEmpty ? AppDirectory([]) : AppDirectory(folder: folder, &reader)
        maximumInFlight = reader.integer(
            "MAXIMUM_IN_FLIGHT", default: server.maximumInFlight, in: 1...100_000,
            meaning: "requests being answered; more get 503 at once")
        maximumConnections = reader.integer(
            "MAXIMUM_CONNECTIONS", default: server.maximumConnections, in: 1...100_000, meaning: "open connections")
        maximumConnectionsPerAddress = reader.integer(
            "MAXIMUM_CONNECTIONS_PER_ADDRESS", default: server.maximumConnectionsPerAddress, in: 0...100_000,
            meaning: "open connections of one address; set it to 0 (no limit) behind a proxy, which is one address")
        clientAddressHeader = reader.optionalText(
            "CLIENT_ADDRESS_HEADER",
            meaning: "the header in which your proxy names the client's address, e.g. X-Forwarded-For; for the access "
                + "log. Set it only if the proxy overwrites or appends it")
    }

    /// How the HTTP server is set up. `refuse` answers what the server itself refuses.
    func serverConfiguration(
        refuse: @escaping @Sendable (HTTPFailure) -> HTTPResponse
    ) -> HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.address = address
        configuration.port = UInt16(clamping: port)
        configuration.threads = threads
        configuration.maximumInFlight = maximumInFlight
        configuration.maximumConnections = maximumConnections
        configuration.maximumConnectionsPerAddress = maximumConnectionsPerAddress
        configuration.errorResponse = refuse
        return configuration
    }
}
