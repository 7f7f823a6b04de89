import AppStore
import AppStoreServerAPI
import AppStoreSimulation
import Crypto
import HTTPClient
import JSON
import Observability
import Runtime
import Synchronization
import TestSupport

@testable import AppStoreSimulator

/// A simulator that runs, and a server of an app that listens to it.
final class SimulatorStage: Sendable {
    static let bundleID = "com.example.app"
    static let appAppleID: Int64 = 1_234_567_890

    /// Whom notifications are posted to.
    let listener: Listener
    private let folder: String
    private let settings: SimulatorSettings
    private let key: P256.PrivateKey
    private let running: Mutex<RunningSimulator>

    private init(
        folder: String, settings: SimulatorSettings, key: P256.PrivateKey, listener: Listener,
        running: RunningSimulator
    ) {
        self.folder = folder
        self.settings = settings
        self.key = key
        self.listener = listener
        self.running = Mutex(running)
    }

    /// Runs `body` on a thread of its own; everything is gone afterwards.
    ///
    /// - Parameters:
    ///   - hasAddress: whether the app has an address for notifications.
    ///   - retryFactor: 36,000,000 makes an hour a tenth of a millisecond.
    static func run<Result: Sendable>(
        hasAddress: Bool = true, retryFactor: Int = 36_000_000, renewalFactor: Int = 1, ocspAddress: String = "",
        _ body: @escaping @Sendable (SimulatorStage) throws -> Result
    ) async throws -> Result {
        try await onThread {
            let folder = try Command.run("/bin/mktemp", ["-d", "/tmp/purser-simulator-XXXXXX"])
                .split(separator: "\n")[0]
            defer { _ = try? Command.capture("/bin/rm", ["-rf", String(folder)]) }
            let settings = try SimulatorSettings(environment: [
                "PURSER_SIMULATOR_STATE": "\(folder)", "PURSER_SIMULATOR_RETRY_FACTOR": "\(retryFactor)",
                "PURSER_SIMULATOR_RENEWAL_FACTOR": "\(renewalFactor)", "PURSER_SIMULATOR_OCSP_ADDRESS": ocspAddress,
                "PURSER_SIMULATOR_LOG_LEVEL": "error",
            ])
            let listener = try Listener.start()
            defer { listener.stop() }
            let key = try P256.PrivateKey.generate()
            let stage = SimulatorStage(
                folder: String(folder), settings: settings, key: key, listener: listener,
                running: try start(settings))
            defer { stage.running.withLock { _ = $0.stop() } }
            try stage.store().register(
                SimulatedApp(
                    bundleID: bundleID, appAppleID: appAppleID, notificationURL: hasAddress ? listener.url : nil,
                    publicKey: try key.publicKey().pemRepresentation()))
            return try body(stage)
        }
    }

    private static func start(_ settings: SimulatorSettings) throws -> RunningSimulator {
        let simulator = try RunningSimulator.start(
            settings, logger: Logger(service: "appstore-simulator", level: settings.logLevel))
        var client = try HTTPClient.open()
        try eventually("the simulator is ready") {
            try client.send(HTTPClientRequest("GET", "http://127.0.0.1:\(simulator.port)/readyz")).status == 200
        }
        return simulator
    }

    /// Ends the simulator and starts it on the same folder; only its port is another one.
    func restart() throws {
        let settings = settings
        try running.withLock { running in
            _ = running.stop()
            running = try Self.start(settings)
        }
    }

    /// Where it answers.
    var base: String { "http://127.0.0.1:\(running.withLock { $0.port })" }

    /// The control calls.
    func store() throws -> RemoteStore { try RemoteStore(base: base) }

    /// Buys something.
    func buy(
        _ product: String = "coins", account: String = "anna", environment: String = "Production",
        type: String = "Consumable", notification: DeliveryPlan = DeliveryPlan(), fields: JSONObject = [:]
    ) throws -> SignedPurchase {
        let request = PurchaseRequest(
            bundleID: Self.bundleID, productID: product, appleAccount: account, type: type,
            environment: environment, fields: fields, notification: notification)
        guard case .purchased(let purchase) = try store().purchase(request) else { throw NothingBought() }
        return purchase
    }

    struct NothingBought: Error {}

    /// A client of the Server API with the app's key, or with what is changed.
    func api(
        environment: String = "Production", issuerID: String = SimulatedApp.usualIssuerID,
        keyID: String = SimulatedApp.usualKeyID, bundleID: String = SimulatorStage.bundleID,
        key: P256.PrivateKey? = nil, timeout: Duration = .seconds(10),
        breaker: AuthorizationBreaker = AuthorizationBreaker(), budget: RateBudget = RateBudget(),
        clock: (@Sendable () -> Int64)? = nil
    ) throws -> AppStoreServerAPI {
        var configuration = AppStoreServerAPI.Configuration(
            baseURL: base + (environment == "Sandbox" ? "/sandbox" : ""))
        configuration.http.timeout = timeout
        return try AppStoreServerAPI.open(
            configuration,
            ServerAPICredentials(issuerID: issuerID, keyID: keyID, bundleID: bundleID, key: key ?? self.key),
            budget: budget, breaker: breaker, stop: StopSignal(), clock: clock)
    }

    /// Whose certificates it signs with.
    func authority() throws -> SimulatedAuthority { try SimulatedAuthority.load(from: folder) }

    /// The verifier that Purser runs, trusting the simulator's root.
    func verifier() throws -> SignedDataVerifier {
        let authority = try authority()
        return try SignedDataVerifier(
            apps: [AcceptedApp(id: "app", bundleIDs: [Self.bundleID], appAppleID: Self.appAppleID)],
            roots: [authority.root])
    }

    /// Verifies a payload that was posted, and everything inside it.
    func verified(_ signedPayload: String) throws -> VerifiedNotification {
        var verifier = try verifier()
        return try verifier.verifyNotification(Array(signedPayload.utf8), now: WallClock.milliseconds())
    }
}
