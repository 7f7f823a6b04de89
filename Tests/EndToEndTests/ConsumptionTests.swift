import AppStoreSimulation
import Crypto
import JSON
import Pipeline
import Postgres
import TestSupport
import Testing

/// Apple asks how much of a purchase was used, by the real processes and a simulated App Store.
@Suite(.timeLimit(.minutes(5))) struct ConsumptionTests {
    private static let consent = "/api/iap/consumption-consent"

    /// A deployment whose app may call the simulated Server API, and which is told what happens there.
    private static func open(_ name: String) throws -> Deployment {
        let deployment = try Deployment.start(name, on: try Platform.shared())
        try deployment.store().register(
            SimulatedApp(
                bundleID: Deployment.bundleID, appAppleID: 1_234_567_890,
                notificationURL: deployment.gateway + "/apple/iap/notifications",
                publicKey: try deployment.secrets.appStoreKey.publicKey().pemRepresentation()))
        return deployment
    }

    /// Somebody's purchase of 60 coins, granted.
    private static func bought(_ deployment: Deployment, by user: String, environment: String = "Production") throws
        -> String
    {
        let purchase = try deployment.purchase("pyy_danbing_60", account: user, environment: environment)
        var backend = try deployment.backend(user)
        #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        return purchase.transactionID
    }

    private static func spend(_ amount: Int64, by user: String, _ deployment: Deployment) throws {
        var server = try deployment.serverBackend()
        _ = try server.send(
            "POST", "/api/wallet/consume",
            [
                "userId": .string(user), "assetType": "DANBING", "amount": .integer(amount),
                "sourceId": .string("spend-" + UUIDText.random()), "deadline": "2099-01-01T00:00:00Z",
            ])
    }

    private static func state(_ id: String, _ deployment: Deployment) throws -> String {
        try Books(deployment: deployment).text(
            "SELECT coalesce(max(state || ' ' || reason), 'none') FROM intake.consumption_requests WHERE transaction_id = $1",
            [.text(id)])
    }

    private static func consumption(_ id: String, _ deployment: Deployment, _ environment: String = "Production") throws
        -> [JSONObject]
    { try deployment.store().consumption(of: id, environment: environment) }

    @Test func `Apple is told the exact share with consent, nothing without; given later it counts (A-116)`()
        async throws
    {
        try await onThread {
            let deployment = try Self.open("consumption")
            defer { deployment.remove() }
            var anna = try deployment.backend("anna")
            #expect(try anna.send("GET", Self.consent)["consented"] == false)
            #expect(try anna.send("PUT", Self.consent, ["termsVersion": "2026-11"])["consented"] == true)
            #expect(try anna.send("GET", Self.consent)["termsVersion"]?.stringValue == "2026-11")
            let first = try Self.bought(deployment, by: "anna")
            let second = try Self.bought(deployment, by: "anna")
            try Self.spend(20, by: "anna", deployment)
            let store = try deployment.store()
            _ = try store.requestConsumption(first, environment: "Production", reason: "UNINTENDED_PURCHASE")
            _ = try store.requestConsumption(second, environment: "Production")
            try eventually("Apple is told of both") {
                try Self.consumption(first, deployment).count == 1 && Self.consumption(second, deployment).count == 1
            }
            let told = try #require(try Self.consumption(first, deployment).first)
            #expect(told["customerConsented"] == true && told["deliveryStatus"] == "DELIVERED")
            #expect(told["consumptionPercentage"]?.intValue == 33_333)
            #expect(try Self.consumption(second, deployment).first?["consumptionPercentage"]?.intValue == 0)
            try eventually("it is on record") { try Self.state(first, deployment) == "sent accepted" }

            // Bert has not consented. Nothing is sent until he does.
            let third = try Self.bought(deployment, by: "bert")
            try Self.spend(60, by: "bert", deployment)
            _ = try store.requestConsumption(third, environment: "Production")
            try eventually("it waits") { try Self.state(third, deployment) == "pending no_consent" }
            #expect(try Self.consumption(third, deployment).isEmpty)
            var bert = try deployment.backend("bert")
            _ = try bert.send("PUT", Self.consent, [:])
            try eventually("his word counts") { try Self.consumption(third, deployment).count == 1 }
            #expect(try Self.consumption(third, deployment).first?["consumptionPercentage"]?.intValue == 100_000)

            // Anna takes her word back: a further question is not answered.
            #expect(try anna.send("DELETE", Self.consent)["consented"] == false)
            _ = try store.requestConsumption(second, environment: "Production")
            try eventually("the second question waits") {
                try Books(deployment: deployment).number(
                    "SELECT count(*) FROM intake.consumption_requests WHERE reason = 'no_consent'", []) == 1
            }
            #expect(try Self.consumption(second, deployment).count == 1)
            let listed = try deployment.run("purser", ["consumption", "list"], deployment.controlEnvironment)
            #expect(listed.status == 0 && listed.output.contains("4 listed"), "\(listed.output)")
            #expect(listed.output.contains("pending  no_consent") && listed.output.contains("accepted"))
            try Books(deployment: deployment).expectConsistent()
        }
    }

    @Test(arguments: ["rateLimited", "error", "unauthorized", "notJSON", "timeout"])
    func `what goes wrong at Apple is tried again until it is told, also over a crash (A-117)`(trouble: String)
        async throws
    {
        try await onThread {
            let deployment = try Self.open("consumption_\(trouble.lowercased())")
            defer { deployment.remove() }
            var anna = try deployment.backend("anna")
            _ = try anna.send("PUT", Self.consent, [:])
            let id = try Self.bought(deployment, by: "anna")
            let store = try deployment.store()
            // A call that hangs is cut off by a crash instead of by its limit.
            try store.spoilServerAPI(
                trouble, details: trouble == "timeout" ? ["milliseconds": 60_000] : ["errorCode": 5_000_001])
            _ = try store.requestConsumption(id, environment: "Production")
            try eventually("it was tried") {
                try Books(deployment: deployment).number("SELECT count(*) FROM intake.consumption_attempts", []) >= 1
            }
            if trouble != "timeout" {
                try eventually("and failed") {
                    try Books(deployment: deployment).number(
                        "SELECT count(*) FROM intake.consumption_attempts WHERE outcome <> 'accepted'", []) >= 1
                }
            }
            deployment.crash(.intake)
            // The lease of what was in hand would be waited for in real life.
            var superuser = try deployment.platform.connect(deployment.database)
            _ = try superuser.query("UPDATE intake.consumption_requests SET next_at = 0")
            try deployment.start([.intake])
            try eventually(within: .seconds(90), "Apple is told") { try Self.consumption(id, deployment).count >= 1 }
            try eventually("it is on record") { try Self.state(id, deployment) == "sent accepted" }
            #expect(try Self.consumption(id, deployment).count == 1)
        }
    }

    @Test func `what cannot be answered in time is warned of twice and expires, on record (A-117)`() async throws {
        try await onThread {
            let deployment = try Self.open("consumption_late")
            defer { deployment.remove() }
            var anna = try deployment.backend("anna")
            _ = try anna.send("PUT", Self.consent, [:])
            let id = try Self.bought(deployment, by: "anna")
            let silent = try Self.bought(deployment, by: "bert")
            let store = try deployment.store()
            try store.spoilServerAPI("error", count: 1_000, details: ["errorCode": 5_000_000])
            _ = try store.requestConsumption(id, environment: "Production")
            _ = try store.requestConsumption(silent, environment: "Production")
            try eventually("its time is over") { try Self.state(id, deployment) == "expired apple_unavailable" }
            try eventually("so is the other's") { try Self.state(silent, deployment) == "skipped no_consent" }
            #expect(try Self.consumption(id, deployment).isEmpty)
            let log = TextFiles.read(deployment.log(.intake)).split(separator: "\n").filter { $0.contains(id) }
            #expect(log.count { $0.contains("waits for its answer") } == 2, "\(log.joined(separator: "\n"))")
            #expect(log.count { $0.contains("was not answered in time") } == 1)
            let audit = try deployment.run("purser", ["audit", "--full"], deployment.controlEnvironment)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test func `the sandbox is told at the sandbox's address; a key that others can read is used for nothing`()
        async throws
    {
        try await onThread {
            let deployment = try Self.open("consumption_sandbox")
            defer { deployment.remove() }
            var tester = try deployment.backend(Deployment.tester)
            _ = try tester.send("PUT", Self.consent, [:])
            let id = try Self.bought(deployment, by: Deployment.tester, environment: "Sandbox")
            let store = try deployment.store()
            _ = try store.requestConsumption(id, environment: "Sandbox")
            try eventually("Apple is told") { try Self.consumption(id, deployment, "Sandbox").count == 1 }
            let file = deployment.folder + "/apps/keys/cloudpc-app-store.p8"
            let settings = deployment.environment(.intake)
            try TextFiles.write(TextFiles.read(file), to: file, mode: 0o640)
            let open = try deployment.run("purser-notification-intake", ["check"], settings)
            #expect(open.status == 1 && open.output.contains("others than its owner may use it"), "\(open.output)")
            #expect(!open.output.contains("PRIVATE KEY-----"))
            _ = try Command.run("/bin/rm", [file])
            let missing = try deployment.run("purser-notification-intake", ["check"], settings)
            #expect(missing.status == 1 && missing.output.contains("it does not exist"), "\(missing.output)")
        }
    }
}
