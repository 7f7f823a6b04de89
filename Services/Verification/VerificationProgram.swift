import AppStore
import Apps
import Crypto
import FoundationEssentials
import Glibc
import Messages
import Observability
import Pipeline
import Service

/// Verification: is this evidence genuine, and for one of our apps?
enum VerificationProgram: ServiceProgram {
    /// Prefix of its settings, queues and schema.
    static let name = "verification"

    /// Its settings besides the common ones.
    struct Settings: Sendable {
        /// The apps it accepts.
        let apps: [AcceptedApp]
        /// The roots it trusts.
        let roots: [Certificate]
        /// Lanes on `verification.purchases`.
        let lanes: Int
    }

    /// Its schema.
    static var migrations: [Migration] {
        Migration.embedded([(name: "V001_evidence.sql", bytes: PackageResources.V001_evidence_sql)])
    }

    /// Reads the apps and, where the local stand-in is trusted, its root.
    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        let folder = reader.text("APPS", meaning: "the folder of apps/<id>.yaml")
        let extra = reader.optionalText(
            "ROOTS",
            meaning: "a PEM file of roots to trust beside Apple's: the App Store simulator's; never in production")
        let lanes = reader.integer(
            "LANES", default: 1, in: 1...16, meaning: "threads that verify; each has its own connections")
        var roots = (try? AppleRoots.certificates()) ?? []
        if roots.isEmpty { reader.problem("APPS", "cannot be served: the embedded Apple roots are unreadable") }
        if let extra { roots += readRoots(extra, &reader) }
        return Settings(apps: acceptedApps(folder, &reader), roots: roots, lanes: lanes)
    }

    /// Starts its lanes.
    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        let queue = Topology.verificationPurchases
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        return (0..<settings.lanes).map { _ in
            let lane = Lane.start(
                configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
            ) {
                VerifyPurchases(
                    verifier: try SignedDataVerifier(apps: settings.apps, roots: settings.roots),
                    metrics: context.metrics, logger: context.logger)
            }
            return LanePart(lane, name: queue.name)
        }
    }

    private static func acceptedApps(_ folder: String, _ reader: inout SettingsReader) -> [AcceptedApp] {
        guard !folder.isEmpty else { return [] }
        switch AppsDirectory.load(folder) {
        case .failure(let error):
            for problem in error.problems { reader.problem("APPS", "has a mistake: \(problem)") }
            return []
        case .success(let apps):
            return apps.map { app in
                AcceptedApp(
                    id: app.id.rawValue, bundleIDs: app.bundleIDs, appAppleID: app.appAppleID,
                    environments: app.environments.sorted().map { $0 == .production ? .production : .sandbox })
            }
        }
    }

    /// A file that others can write could make us trust anybody.
    private static func readRoots(_ path: String, _ reader: inout SettingsReader) -> [Certificate] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            reader.problem("ROOTS", "names a file that does not exist: \(path)")
            return []
        }
        guard status.st_mode & 0o077 == 0 else {
            reader.problem("ROOTS", "names a file that others can read or write; run chmod 600 \(path)")
            return []
        }
        guard let data = FileManager.default.contents(atPath: path),
            let roots = try? Certificate.certificates(pem: String(decoding: data, as: UTF8.self)), !roots.isEmpty
        else {
            reader.problem("ROOTS", "names a file without a readable PEM certificate: \(path)")
            return []
        }
        return roots
    }
}
