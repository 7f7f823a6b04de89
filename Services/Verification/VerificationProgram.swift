import AMQP
import Messages
import Observability
import Pipeline
import Reloading
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
        /// What revoked certificates mean.
        let revocation: RevocationPolicy
        /// Whom it asks about them.
        let responders: ResponderSettings
        /// Whether and where Apple is asked about receipts that cannot be judged here.
        let verifyReceipt: VerifyReceiptSettings
    }

    static var migrations: [Migration] {
        Migration.embedded([
            ("V001_evidence.sql", PackageResources.V001_evidence_sql),
            ("V002_append_only.sql", PackageResources.V002_append_only_sql),
            ("V003_receipts.sql", PackageResources.V003_receipts_sql),
            ("V004_chains.sql", PackageResources.V004_chains_sql),
            ("V005_erasures.sql", PackageResources.V005_erasures_sql),
            ("V006_receipt_checks.sql", PackageResources.V006_receipt_checks_sql),
            ("V007_redrives.sql", PackageResources.V007_redrives_sql),
            ("V008_chain_expiry.sql", PackageResources.V008_chain_expiry_sql),
        ])
    }

    static func readSettings(_ reader: inout SettingsReader) -> Settings {
        Settings(
            trust: TrustFiles(&reader),
            lanes: reader.integer(
                "LANES", default: 1, in: 1...16, meaning: "threads that verify; each has its own connections"),
            revocation: RevocationPolicy(&reader), responders: ResponderSettings(&reader),
            verifyReceipt: VerifyReceiptSettings(&reader))
    }

    static func check(_ settings: Settings, _ common: CommonSettings) -> [CheckResult] {
        settings.trust.check()
            + (settings.verifyReceipt.isOn ? ReceiptSecrets.check(appsFolder: settings.trust.appsFolder) : [])
    }

    static func start(_ settings: Settings, _ context: ServiceContext) throws -> [any ServicePart] {
        let queue = Topology.verificationPurchases
        guard let broker = context.common.broker, let database = context.common.database else { return [] }
        let (live, watching) = try settings.trust.follow(context) { trust, _ in trust }
        let configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        let verifying = (0..<settings.lanes).map { _ in
            let lane = Lane.start(
                configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
            ) {
                let follower = Follower(live)
                let trust = live.value
                return VerifyPurchases(
                    verifier: try trust.verifier(), receipts: try trust.receiptVerifier(), metrics: context.metrics,
                    logger: context.logger, revocation: settings.revocation, follower: follower,
                    canAskApple: settings.verifyReceipt.isOn)
            }
            return LanePart(lane, name: queue.name)
        }
        return verifying + watching + [
            checking(settings, live.value, context, broker, database), commanded(context, broker, database),
            telling(context, broker, database), try asking(settings, live, context, broker, database),
        ]
    }

    /// The lane that tells reconciliation what was verified.
    private static func telling(_ context: ServiceContext, _ broker: AMQPEndpoint, _ database: Secret) -> LanePart {
        let queue = Topology.verificationQueries
        var configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        // Whoever hands a purchase in waits for an answer; who compares books does not.
        configuration.yieldsToOthers = true
        let lane = Lane.start(
            configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
        ) { AnswerEvidence() }
        return LanePart(lane, name: queue.name)
    }

    /// The lane that forgets users and says purchases again.
    private static func commanded(_ context: ServiceContext, _ broker: AMQPEndpoint, _ database: Secret) -> LanePart {
        let queue = Topology.verificationCommands
        var configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        let logger = context.logger
        // A page of forgetting takes half a second, and nobody waits for it.
        configuration.prefetch = 1
        configuration.yieldsToOthers = true
        let lane = Lane.start(
            configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
        ) { RunCommands(logger: logger) }
        return LanePart(lane, name: queue.name)
    }

    /// The lane that asks Apple about receipts, one message at a time for the same reason. It runs also where nobody is
    /// asked any more: what still waits is then answered.
    private static func asking(
        _ settings: Settings, _ live: Live<TrustSettings>, _ context: ServiceContext, _ broker: AMQPEndpoint,
        _ database: Secret
    ) throws -> LanePart {
        let queue = Topology.verificationReceipts
        var configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        configuration.prefetch = 1
        let secrets = try ReceiptSecrets(appsFolder: settings.trust.appsFolder)
        let lane = Lane.start(
            configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
        ) {
            let follower = Follower(live)
            let trust = live.value
            return CheckReceipts(
                receipts: try trust.receiptVerifier(), settings: settings.verifyReceipt, secrets: secrets,
                apps: trust.apps, metrics: context.metrics, logger: context.logger, follower: follower)
        }
        return LanePart(lane, name: queue.name)
    }

    /// The lane that asks Apple's responders. One message at a time: an answer may take seconds, and heartbeats are kept
    /// between messages only.
    private static func checking(
        _ settings: Settings, _ trust: TrustSettings, _ context: ServiceContext, _ broker: AMQPEndpoint,
        _ database: Secret
    ) -> LanePart {
        let queue = Topology.verificationRevocations
        var configuration = LaneConfiguration(service: name, queue: queue, broker: broker, database: database)
        configuration.prefetch = 1
        let asker = RevocationAsker(settings.responders)
        let lane = Lane.start(
            configuration, stop: context.stop, logger: context.logger, metrics: context.metrics
        ) {
            try CheckChains(
                roots: trust.roots, asker: asker, policy: settings.revocation, metrics: context.metrics,
                logger: context.logger)
        }
        return LanePart(lane, name: queue.name)
    }
}
