import AppStoreSimulation
import Crypto
import HTTPServer
import JSON
import Observability
import Runtime

/// Store, senders of notifications and HTTP server, running. Any thread starts and stops it; `stop` blocks.
struct RunningSimulator: Sendable {
    /// The port it answers on.
    var port: UInt16 { server.port }

    private let server: HTTPServer
    private let worker: Worker<StoreWorker.Request, JSONObject>
    private let senders: [NamedThread]
    private let stopSending: StopSignal

    /// How long requests in flight may take at the end; each takes an fsync or two.
    private static let grace = Duration.seconds(3)

    /// Opens everything and listens.
    static func start(_ settings: SimulatorSettings, logger: Logger) throws -> RunningSimulator {
        let state = settings.state
        // Opened once here, so that a folder that cannot be used ends the start instead of being retried for ever.
        let store = try SimulatedStore.open(in: state, ocspAddress: settings.ocspAddress)
        try RootFile.write(store.signer.authority.root.pemRepresentation, to: settings.rootFile)
        let apps = try SimulatedApps(in: state)
        if let file = settings.appsFile {
            for app in try AppsFile.read(file) { try apps.register(app) }
        }
        let outbox = try NotificationOutbox(in: state, schedule: RetrySchedule(factor: settings.retryFactor))
        let stop = StopSignal()
        let acceleration = settings.acceleration
        let worker = StoreWorker.start {
            try SimulatedStore.open(in: state, apps: apps, outbox: outbox, acceleration: acceleration)
        }
        let senders = NotificationSender.start(
            outbox, apps: apps, count: settings.senders, timeout: .seconds(settings.sendTimeout), until: stop
        ) { notification, result in
            logger.info(
                "posted",
                [
                    "notification.type": .string(notification.type), "notification.uuid": .string(notification.uuid),
                    "notification.attempt": .int(notification.attempts.count + 1), "result": .string(result),
                ])
        }
        var configuration = HTTPServer.Configuration()
        configuration.address = settings.address
        configuration.port = settings.port
        // Load generators come from one address.
        configuration.maximumConnectionsPerAddress = 0
        let surface = SimulatorSurface(
            worker: worker, apps: apps, outbox: outbox, responder: try SimulatedResponder(store.signer.authority),
            verifyReceipt: try VerifyReceiptSurface(root: store.signer.authority.root, logger: logger), logger: logger)
        let limit: @Sendable (String, String) -> Int = { _, path in
            VerifyReceiptSurface.isAddress(path) ? VerifyReceiptSurface.longestBody : SimulatorSurface.longestBody
        }
        let server = try HTTPServer.start(configuration, bodyLimit: limit) {
            await surface.answer($0)
        }
        return RunningSimulator(server: server, worker: worker, senders: senders, stopSending: stop)
    }

    /// Stops everything; whether all of it ended in time. A post in flight may outlast it: it is made again next time.
    func stop() -> Bool {
        server.stop(grace: Self.grace)
        stopSending.stop()
        worker.stop()
        for sender in senders { _ = sender.join(for: Self.grace) }
        return worker.join(for: Self.grace)
    }
}
