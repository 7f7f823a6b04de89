import AppStoreSimulation
import JSON
import Postgres
import TestSupport
import Testing

/// The whole system with a simulated App Store whose certificates name its responder.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RevocationTests {
    /// What a deployment whose certificates can be asked about is called.
    static let name = "revocation"

    private static func buy(_ deployment: Deployment, _ account: String) throws -> SignedPurchase {
        try deployment.purchase("pyy_danbing_60", account: account)
    }

    private static func checks(_ deployment: Deployment, _ outcome: String) throws -> Int {
        try deployment.metric(
            "purser_verification_revocation_checks_total", of: .verification, labels: ["\"\(outcome)\""])
    }

    /// Forgets what is known, so that the next purchase is of a chain that is first seen, and tells the responder how to
    /// answer.
    private static func begin(
        _ deployment: Deployment, _ mode: SimulatedResponder.Mode, _ details: JSONObject = [:]
    ) throws {
        try deployment.store().answerAboutRevocation(mode, details: details)
        var connection = try deployment.platform.connect(deployment.database)
        _ = try connection.query("DELETE FROM verification.chains")
        _ = try connection.query("DELETE FROM intake.chains")
        _ = deployment.stop(.verification)
        try deployment.start([.verification])
    }

    @Test(arguments: [
        (SimulatedResponder.Mode.good, "good"), (.unknown, "unknown"), (.stale, "stale"),
        (.wrongResponder, "responder_not_authorized"), (.unreachable, "http_status"), (.slow, "timeout"),
    ])
    func `a chain that is first seen is asked about; what is no revocation holds nobody up (S14, BR04)`(
        mode: SimulatedResponder.Mode, outcome: String
    ) async throws {
        let deployment = try await Deployment.shared(Self.name)
        try await onThread {
            try Self.begin(deployment, mode, ["milliseconds": 5_000])
            var backend = try deployment.backend("chain-\(mode.rawValue)")
            let purchase = try Self.buy(deployment, "chain-\(mode.rawValue)")
            #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            try eventually(within: .seconds(60), "it was asked and counted") {
                try Self.checks(deployment, outcome) >= 1
            }
            if mode == .good {
                try eventually("both services know it") {
                    let books = Books(deployment: deployment)
                    return try books.number("SELECT count(*) FROM verification.chains WHERE status = 'good'", []) == 1
                }
            } else {
                // It goes round, and ends by itself once the responder answers.
                try eventually("it goes round") {
                    try Books(deployment: deployment).number(
                        "SELECT count(*) FROM verification.chains WHERE attempt = $1 AND attempted_by IS NOT NULL",
                        [.text(outcome)]) == 1
                }
                try deployment.store().answerAboutRevocation(.good)
                try eventually(within: .seconds(60), "it was found out") {
                    try Books(deployment: deployment).number(
                        "SELECT count(*) FROM verification.chains WHERE status = 'good'", []) == 1
                }
            }
        }
    }

    @Test func `what a revoked chain signs is refused, by clients and by notifications, and an alert says so (S14)`()
        async throws
    {
        let deployment = try await Deployment.shared(Self.name)
        try await onThread {
            // Key compromise: nothing counts any more, whenever it was signed.
            try Self.begin(deployment, .revoked, ["reason": 1])
            var backend = try deployment.backend("chain-revoked")
            let first = try Self.buy(deployment, "chain-revoked")
            #expect(
                try backend.verify(first.signedTransactionInfo, orderNumber: nil).status == "GRANTED",
                "nobody knows yet")
            try eventually(within: .seconds(60), "both services know it") {
                let books = Books(deployment: deployment)
                return try books.number(
                    """
                    SELECT (SELECT count(*) FROM verification.chains WHERE status = 'revoked')
                        + (SELECT count(*) FROM intake.chains WHERE status = 'revoked')
                    """, []) == 2
            }
            let second = try Self.buy(deployment, "chain-revoked")
            try eventually(within: .seconds(60), "what it signs is refused") {
                let problem = refusal { () throws(BackendError) in
                    _ = try backend.verify(second.signedTransactionInfo, orderNumber: nil)
                }
                return problem?.code == "APPLE_TRANSACTION_VERIFY_FAILED"
                    && problem?.body["reason"]?.stringValue == "revoked"
            }
            #expect(try deployment.metric("purser_verification_revoked_chains", of: .verification) == 1)
            #expect(TextFiles.read(deployment.log(.verification)).contains("Apple has revoked a chain of certificates"))
            try eventually(within: .seconds(60), every: .seconds(1), "its notifications are kept apart") {
                // What Intake knows may be ten seconds old.
                #expect(try deployment.send(deployment.notification("TEST")) == 200)
                return try Books(deployment: deployment).number(
                    "SELECT count(*) FROM intake.quarantine WHERE reason = 'revoked'", []) >= 1
            }
            try Self.begin(deployment, .good)
        }
    }
}
