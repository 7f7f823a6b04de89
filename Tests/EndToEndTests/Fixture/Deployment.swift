import AppStoreSimulation
import Crypto
import Glibc
import HTTPClient
import Postgres
import Runtime
import Synchronization
import TestSupport

/// All of Purser as real processes: own virtual host with the real users and permissions, own database with the real
/// roles and migrations, own keys, ports and logs; a simulated App Store beside it. Blocking: own threads only.
final class Deployment: Sendable {
    /// A process of the deployment.
    enum Service: String, CaseIterable, Sendable {
        case simulator, verification, intake, granting, reconciliation, gateway

        /// All but the stand-in for Apple.
        static let purser: [Service] = [.verification, .intake, .granting, .reconciliation, .gateway]

        /// Its executable.
        var program: String {
            switch self {
            case .simulator: "appstore-simulator"
            case .intake: "purser-notification-intake"
            default: "purser-" + rawValue
            }
        }
    }

    /// Keys and passwords that no log may ever show.
    struct Secrets: Sendable {
        let loginKey: String
        let serviceKey: String
        let identityKey: String
        let brokerPassword: String
        /// Of the app, for Apple's Server API.
        let appStoreKey: P256.PrivateKey

        init() throws {
            loginKey = Hex.encode(try RandomBytes.generate(32))
            serviceKey = Hex.encode(try RandomBytes.generate(32))
            identityKey = Hex.encode(try RandomBytes.generate(32))
            brokerPassword = try Deployment.brokerPassword.get()
            appStoreKey = try P256.PrivateKey.generate()
        }

        var all: [String] { [loginKey, serviceKey, identityKey, brokerPassword] }
    }

    /// Broker users belong to the broker, not to a virtual host: one password for all deployments of this run.
    private static let brokerPassword = Result { Hex.encode(try RandomBytes.generate(16)) }

    /// The user that is listed as a tester in the app's policies.
    static let tester = "tester-1"
    /// The app's bundle id in apps/cloudpc.yaml.
    static let bundleID = "com.bujingyun.pyydn"

    let name: String
    let platform: Platform
    let secrets: Secrets
    /// Configuration, keys, the simulator's state.
    let folder: String
    /// One file a service.
    let logs: String
    let database: String
    let virtualHost: String
    private let ports: [String: Int]
    private let processes = Mutex<[Service: ChildProcess]>([:])

    /// Where clients call.
    var gateway: String { "http://127.0.0.1:\(port("gateway"))" }
    /// Where the store is.
    var simulator: String { "http://127.0.0.1:\(port("simulator"))" }

    private init(_ name: String, on platform: Platform) throws {
        self.name = name
        self.platform = platform
        secrets = try Secrets()
        folder = try Places.makeFolder(name)
        logs = try Places.logFolder(name)
        let unique = String(UInt32.random(in: 0 ... .max), radix: 36)
        database = "e2e_\(name)_\(unique)"
        virtualHost = "e2e-\(name)-\(unique)"
        var ports: [String: Int] = [:]
        for user in ["gateway", "simulator"] + Service.purser.map({ $0.rawValue + ".metrics" }) {
            ports[user] = try FreePort.find()
        }
        self.ports = ports
    }

    func port(_ use: String) -> Int { ports[use] ?? 0 }

    // MARK: - The whole

    private static let made = Mutex<[String: Deployment]>([:])

    /// The deployment `name` on the shared services, started at the first call of the run, removed at its end.
    static func shared(_ name: String) async throws -> Deployment {
        try await onThread {
            try made.withLock { deployments in
                if let deployment = deployments[name] { return deployment }
                let deployment = try start(name, on: try Platform.shared())
                deployments[name] = deployment
                return deployment
            }
        }
    }

    /// Makes and starts a deployment: about 4 s.
    static func start(_ name: String, on platform: Platform) throws -> Deployment {
        let deployment = try prepared(name, on: platform)
        try deployment.start(Service.allCases)
        try deployment.importCatalog()
        return deployment
    }

    /// All of a deployment but its processes, made at the first call of the run: what reaches a queue stays there.
    static func idle(_ name: String) async throws -> Deployment {
        try await onThread {
            try made.withLock { deployments in
                if let deployment = deployments[name] { return deployment }
                let deployment = try prepared(name, on: try Platform.shared())
                deployments[name] = deployment
                return deployment
            }
        }
    }

    private static func prepared(_ name: String, on platform: Platform) throws -> Deployment {
        let deployment = try Deployment(name, on: platform)
        try deployment.prepare()
        _ = atExit
        remaining.withLock { $0.append(deployment) }
        return deployment
    }

    /// After the first connection to PostgreSQL: OpenSSL registers its own clean-up then, and the later one runs first.
    private static let atExit: Void = { atexit { Deployment.removeAll() } }()
    private static let remaining = Mutex<[Deployment]>([])

    private static func removeAll() {
        let all = remaining.withLock { $0 }
        for deployment in all { deployment.keepMetrics() }
        ChildProcess.endAll()
        for deployment in all { deployment.remove() }
    }

    /// Stops everything and removes virtual host, database and folder; logs stay.
    func remove() {
        keepMetrics()
        for service in Service.allCases.reversed() { _ = stop(service) }
        _ = try? Command.capture(platform.controlScript, ["delete_vhost", virtualHost])
        if var connection = try? platform.connect() {
            try? connection.executeScript("DROP DATABASE IF EXISTS \"\(database)\" WITH (FORCE)")
        }
        _ = try? Command.capture("/bin/rm", ["-rf", folder])
        Self.remaining.withLock { all in all.removeAll { $0 === self } }
    }

    /// Keeps what the running services tell on /metrics beside their logs, to be searched for secrets like these.
    private func keepMetrics() {
        guard var client = try? HTTPClient.open() else { return }
        for service in Service.purser where process(service).map({ $0.ended == nil }) ?? false {
            let url = "http://127.0.0.1:\(port(service.rawValue + ".metrics"))/metrics"
            guard let answer = try? client.send(HTTPClientRequest("GET", url)) else { continue }
            try? TextFiles.append(
                [String(decoding: answer.body, as: UTF8.self)], to: "\(logs)/\(service.rawValue).metrics")
        }
    }

    // MARK: - Its processes

    /// Starts services and waits until each is ready.
    func start(_ services: [Service]) throws {
        for service in services {
            try launch(service)
            // The root certificate is there once the simulator is ready.
            if service == .simulator { try waitUntilReady(service) }
        }
        for service in services { try waitUntilReady(service) }
    }

    /// Starts a service that does not run.
    func launch(_ service: Service) throws {
        let process = try ChildProcess.start(
            try Places.program(service.program), environment: environment(service), log: log(service))
        processes.withLock { $0[service] = process }
    }

    /// The process of a service, if it was started.
    func process(_ service: Service) -> ChildProcess? { processes.withLock { $0[service] } }

    /// `kill -9`; returns when it is gone.
    func crash(_ service: Service) { process(service)?.crash() }

    /// SIGTERM; how it ended, nil if it did not within 12 s and had to be killed.
    func stop(_ service: Service) -> ChildProcess.Ending? {
        guard let process = process(service) else { return nil }
        process.send(SIGTERM)
        let ending = process.wait(for: .seconds(12))
        if ending == nil { process.crash() }
        return ending
    }

    /// Polls `/readyz`; fails at once if the process ended.
    func waitUntilReady(_ service: Service, within limit: Duration = .seconds(90)) throws {
        var client = try HTTPClient.open()
        let port = service == .simulator ? port("simulator") : port(service.rawValue + ".metrics")
        let url = "http://127.0.0.1:\(port)/readyz"
        var answer = "nothing"
        do {
            try eventually(within: limit, every: .milliseconds(20), "\(service.rawValue) is ready") {
                if let ending = process(service)?.ended {
                    throw Places.Missing(description: "\(service.rawValue) ended: \(ending)")
                }
                guard let response = try? client.send(HTTPClientRequest("GET", url)) else { return false }
                answer = String(decoding: response.body, as: UTF8.self)
                return response.status == 200
            }
        } catch {
            let tail = TextFiles.read(log(service)).suffix(2_000)
            throw Places.Missing(description: "\(error); it says: \(answer); its log ends with: \(tail)")
        }
    }

    /// The log file of a service.
    func log(_ service: Service) -> String { "\(logs)/\(service.rawValue).log" }

    /// Runs a subcommand of a service or of `purser`, with the settings of the deployment and `changes` (nil unsets).
    func run(
        _ program: String, _ arguments: [String], _ settings: [String: String], changes: [String: String?] = [:]
    ) throws -> Command.Outcome {
        let variables = settings.merging(changes.compactMapValues { $0 }) { $1 }.filter { name, _ in
            changes[name].map { $0 != nil } ?? true
        }
        return try Command.capture(try Places.program(program), arguments, environment: variables)
    }
}
