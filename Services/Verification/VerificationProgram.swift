import Messages
import Pipeline
import Service
import Trust

/// Verification: is this evidence genuine, and for one of our apps?
enum VerificationProgram: ServiceProgram {
    static let name = "verification"

    /// Its settings besides the common ones.
    struct Settings: Sendable {
        /// Whom it believes.
        let trust: TrustFiles
        /// Lanes on `verification.purchases`.
        let lanes: Int
    }

    static var migrations: [Migration] {
        Migration.embedded([
            ("V001_evidence.sql", PackageResources.V001_evidence_sql),
            ("V002_append_only.sql", PackageResources.V002_append_only_sql),
            ("V003_receipts.sql", PackageResources.V003_receipts_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        Settings(
            trust: TrustFiles(&reader),
            lanes: reader.integer(
                "LANES", default: 1, in: 1...16, meaning: "threads that verify; each has its own connections"))
    }

    static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult] {
        settings.trust.check()
    }

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        let queue = Topology.verificationPurchases
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let trust = try settings.trust.load(context.logger)
        let configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        return (0..<settings.lanes).map { _ in
            let lane = Lane.start(
                configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
            ) {
                VerifyPurchases(
                    verifier: try trust.verifier(), receipts: try trust.receiptVerifier(), metrics: context.metrics,
                    logger: context.logger)
            }
            return LanePart(lane, name: queue.name)
        }
    }
}
