import AppStore
import Messages
import Observability
import Pipeline
import Service

/// Verification: is this evidence genuine, and for one of our apps?
enum VerificationProgram: ServiceProgram {
    static let name = "verification"

    /// Its settings besides the common ones.
    struct Settings: Sendable {
        /// The folder of the apps' files.
        let appsFolder: String
        /// A PEM file of roots trusted beside Apple's.
        let rootsFile: String?
        /// Lanes on `verification.purchases`.
        let lanes: Int
    }

    static var migrations: [Migration] {
        Migration.embedded([
            ("V001_evidence.sql", PackageResources.V001_evidence_sql),
            ("V002_append_only.sql", PackageResources.V002_append_only_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        Settings(
            appsFolder: reader.text("APPS", meaning: "the folder of apps/<id>.yaml"),
            rootsFile: reader.optionalText(
                "ROOTS",
                meaning: "a PEM file of roots to trust beside Apple's: the App Store simulator's; never in production"),
            lanes: reader.integer(
                "LANES", default: 1, in: 1...16, meaning: "threads that verify; each has its own connections"))
    }

    static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult] {
        switch TrustSettings.load(appsFolder: settings.appsFolder, rootsFile: settings.rootsFile) {
        case .success: [CheckResult("apps and roots")]
        case .failure(let problems): problems.sentences.map { CheckResult("apps and roots", problem: $0) }
        }
    }

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        let queue = Topology.verificationPurchases
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let trust = try TrustSettings.load(appsFolder: settings.appsFolder, rootsFile: settings.rootsFile).get()
        if settings.rootsFile != nil {
            context.logger.warning("roots besides Apple's are trusted; never do this where money is real")
        }
        let configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        return (0..<settings.lanes).map { _ in
            let lane = Lane.start(
                configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
            ) {
                VerifyPurchases(
                    verifier: try SignedDataVerifier(apps: trust.apps, roots: trust.roots), metrics: context.metrics,
                    logger: context.logger)
            }
            return LanePart(lane, name: queue.name)
        }
    }
}
