import AppStoreSimulation
import Crypto
import HTTPServer
import Observability
import Runtime

/// One run: the store on its own thread, an HTTP server in front, and the way back.
struct SimulatorRun {
    private let settings: SimulatorSettings
    private let logger: Logger

    /// How long requests in flight may take at the end; each takes an fsync or two.
    private static let grace = Duration.seconds(3)

    init(_ settings: SimulatorSettings) {
        self.settings = settings
        logger = Logger(service: "appstore-simulator", level: settings.logLevel)
    }

    /// Serves until `stop` is raised.
    func serve(until stop: StopSignal) throws -> Int32 {
        let state = settings.state
        // Opened once here, so that a folder that cannot be used ends the start instead of being retried for ever.
        let store = try SimulatedStore.open(in: state)
        try RootFile.write(store.signer.authority.root.pemRepresentation, to: settings.rootFile)
        let worker = StoreWorker.start(in: state)
        let surface = SimulatorSurface(worker: worker, logger: logger)
        var configuration = HTTPServer.Configuration()
        configuration.address = settings.address
        configuration.port = settings.port
        // Load generators come from one address.
        configuration.maximumConnectionsPerAddress = 0
        let server = try HTTPServer.start(configuration, bodyLimit: { _, _ in SimulatorSurface.longestBody }) {
            await surface.answer($0)
        }
        logger.info(
            "started", ["http.address": .string(settings.address), "http.port": .int(Int(server.port))])
        stop.wait()
        server.stop(grace: Self.grace)
        worker.stop()
        let isClean = worker.join(for: Self.grace)
        logger.info("stopped", ["clean": .bool(isClean)])
        return isClean ? 0 : 1
    }
}
