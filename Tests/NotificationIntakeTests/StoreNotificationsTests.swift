import AppStoreSimulation
import JSON
import Messages
import Observability
import Pipeline
import Postgres
import TestSupport
import Testing
import Trust

@testable import NotificationIntake

/// What Apple tells is kept once and told once, on real PostgreSQL.
@Suite(.timeLimit(.minutes(2))) struct StoreNotificationsTests {
    @Test func `a notification is stored with all that support asks for, and told (A-043 A-046 A-075)`() async throws {
        try await IntakeDatabase.with("stored") { intake in
            var session = try intake.open()
            let world = try World()
            var refunded = World.transaction()
            refunded.revocationDate = World.now - 2_000
            refunded.revocationReason = 1
            let signed = try world.sign("REFUND", transaction: refunded) { $0.subtype = "INITIAL_BUY" }
            let message = try received(signed)
            let told = try session.run([message]).first?.told ?? []
            #expect(told.count == 1)
            #expect(told.first?.app == World.game && told.first?.environment == .production)
            #expect(told.first?.notificationType == "REFUND" && told.first?.subtype == "INITIAL_BUY")
            #expect(told.first?.notificationUUID == World.uuid(1) && told.first?.signedDate == World.now - 1_000)
            #expect(told.first?.transaction?.revocationDate == World.now - 2_000)
            #expect(told.first?.transaction?.productID == ProductID("com.example.game.coins"))
            let row = try #require(try intake.rows("SELECT * FROM intake.notifications").first)
            #expect(try row.text("type") == "REFUND" && row.text("subtype") == "INITIAL_BUY")
            #expect(try row.text("environment") == "Production" && row.text("app") == "game")
            #expect(try row.text("transaction_id") == "2000000000000001")
            #expect(try row.text("original_transaction_id") == "2000000000000001")
            #expect(try row.text("product_id") == "com.example.game.coins" && row.bool("is_known"))
            #expect(try row.int8("signed_date") == World.now - 1_000)
            #expect(try row.timestampMilliseconds("received_at") == World.now)
            #expect(try row.uuid("message") == UUIDText.parse(message.header.id.rawValue))
            #expect(try intake.rebuilt() == [signed], "byte for byte")
        }
    }

    @Test func `a repeated notification changes nothing and is counted (A-047 S25)`() async throws {
        try await IntakeDatabase.with("repeated") { intake in
            var session = try intake.open()
            let signed = try World().sign("REFUND")
            let first = try received(signed)
            let outcomes = try session.run([first, try received(signed), try received(signed)])
            #expect(outcomes.map(\.facts.count) == [1, 0, 0])
            #expect(try intake.timesReceived() == 3)
            // The same message again: nothing new to count or to say.
            #expect(try session.run([first]).map(\.facts.count) == [0])
            #expect(try intake.timesReceived() == 3)
            #expect(try session.run([try received(signed)]).map(\.facts.count) == [0])
            #expect(try intake.timesReceived() == 4)
            #expect(try intake.count("notifications") == 1 && intake.count("facts") == 1)
        }
    }

    @Test func `the other valid signature over the same notification is the same notification (S25)`() async throws {
        try await IntakeDatabase.with("malleable") { intake in
            var session = try intake.open()
            let signed = try World().sign("REFUND")
            let twin = try #require(TransactionSigner.malleableTwin(of: Array(signed.utf8)))
            let outcomes = try session.run([try received(signed), try received(String(decoding: twin, as: UTF8.self))])
            #expect(outcomes.map(\.facts.count) == [1, 0])
            #expect(try intake.rebuilt() == [signed])
        }
    }

    @Test func `one UUID in two environments is two notifications`() async throws {
        try await IntakeDatabase.with("environments") { intake in
            var session = try intake.open()
            var sandbox = World.transaction()
            sandbox.environment = "Sandbox"
            let world = try World()
            // Sandbox names no Apple id.
            let outcomes = try session.run([
                try received(world.sign("REFUND")),
                try received(
                    world.sign("REFUND", transaction: sandbox) {
                        $0.environment = "Sandbox"
                        $0.appAppleID = nil
                    }),
            ])
            #expect(outcomes.map(\.facts.count) == [1, 1])
            #expect(try intake.count("notifications") == 2)
        }
    }

    @Test(arguments: AppleNotificationType.allCases)
    func `every documented type is stored and told under its own name (A-044)`(type: AppleNotificationType) async throws
    {
        try await IntakeDatabase.with("type_\(type.rawValue.lowercased())") { intake in
            var session = try intake.open()
            let world = try World()
            let outcome = try session.run([
                try received(
                    world.sign(type.rawValue) {
                        $0.signedRenewalInfo = try? world.renewalInfo()
                        $0.status = 4
                        $0.consumptionRequestReason = "OTHER"
                    })
            ]).first
            #expect(outcome?.facts.first?.type == type.messageType)
            #expect(outcome?.facts.first?.key == "Production/\(World.uuid(1))")
            let told = try #require(try outcome?.told.first)
            #expect(told.renewal?.autoRenewProductID == ProductID("com.example.game.pass"))
            #expect(told.subscriptionStatus == 4 && told.consumptionRequestReason == "OTHER")
            #expect(told.transaction != nil)
        }
    }

    /// What has no transaction: TEST, summary, external purchase token, app data.
    private static let shapes: [(name: String, members: JSONObject, environment: StoreEnvironment)] = [
        (
            "TEST", ["data": ["environment": "Sandbox", "bundleId": "com.example.game", "bundleVersion": "1"]], .sandbox
        ),
        (
            "RENEWAL_EXTENSION",
            [
                "subtype": "SUMMARY",
                "summary": [
                    "environment": "Production", "appAppleId": 1234, "bundleId": "com.example.game",
                    "productId": "com.example.game.pass", "requestIdentifier": "r", "succeededCount": 5,
                    "failedCount": 1,
                    "storefrontCountryCodes": ["USA"],
                ],
            ], .production
        ),
        (
            "EXTERNAL_PURCHASE_TOKEN",
            [
                "subtype": "UNREPORTED",
                "externalPurchaseToken": [
                    "externalPurchaseId": "SANDBOX_1", "tokenCreationDate": 1_796_083_000_000,
                    "bundleId": "com.example.game",
                ],
            ], .sandbox
        ),
        (
            "RESCIND_CONSENT",
            ["appData": ["environment": "Production", "appAppleId": 1234, "bundleId": "com.example.game"]], .production
        ),
    ]

    @Test(arguments: shapes)
    func `what speaks of no transaction is stored and told too (A-045)`(
        name: String, members: JSONObject, environment: StoreEnvironment
    ) async throws {
        try await IntakeDatabase.with("shape_\(name.lowercased())") { intake in
            var session = try intake.open()
            var object: JSONObject = [
                "notificationType": .string(name), "notificationUUID": .string(World.uuid(1)), "version": "2.0",
                "signedDate": .integer(World.now - 1_000),
            ]
            for (key, value) in members.members { object.set(key, value) }
            let told = try session.run([try received(try World().sign(object))]).first?.told.first
            #expect(told?.notificationType == name && told?.environment == environment)
            #expect(told?.transaction == nil && told?.renewal == nil)
            let row = try #require(try intake.rows("SELECT * FROM intake.notifications").first)
            #expect(try row.optionalText("transaction_id") == nil && row.text("environment") == environment.rawValue)
        }
    }

    @Test func `a type nobody knows is kept, counted for an alert, and told as such (A-044)`() async throws {
        try await IntakeDatabase.with("unknown") { intake in
            let metrics = Metrics()
            var session = try intake.open(handler: try IntakeDatabase.handler(metrics: metrics))
            let outcome = try session.run([try received(try World().sign("SOMETHING_NEW") { $0.subtype = "VERY_NEW" })])
            #expect(outcome.first?.facts.first?.type == .notificationUnrecognised)
            let told = try #require(try outcome.first?.told.first)
            #expect(told.notificationType == "SOMETHING_NEW" && told.subtype == "VERY_NEW")
            #expect(try intake.rows("SELECT is_known FROM intake.notifications").first?.bool("is_known") == false)
            #expect(
                metrics.render().contains("purser_intake_stored_total{type=\"notification.unrecognised\"} 1\n"))
        }
    }

    @Test func `the signed bundle id decides the app, whatever address was called`() async throws {
        try await IntakeDatabase.with("address") { intake in
            var session = try intake.open()
            let outcome = try session.run([try received(try World().sign(), app: World.books)])
            #expect(outcome.first?.facts.first?.app == World.game)
            #expect(try intake.rows("SELECT app FROM intake.notifications").first?.text("app") == "game")
        }
    }

    @Test func `what is dated in the future waits without limit and is stored when its time has come`() async throws {
        try await IntakeDatabase.with("future") { intake in
            var session = try intake.open()
            let signed = try World().sign { $0.signedDate = World.now + 3_600_000 }
            let outcome = try session.run([try received(signed, attempt: 99)]).first
            #expect(outcome?.isOutage == true)
            #expect(try intake.count("notifications") == 0 && intake.count("quarantine") == 0)
            var later = try intake.open(
                handler: StoreNotifications(
                    verifier: try World().verifier(), instruments: IntakeMetrics(Metrics()), logger: .silent,
                    chains: ChainWatch(.off, service: "intake", metrics: Metrics()),
                    now: { World.now + 3_600_000 }))
            #expect(try later.run([try received(signed)]).first?.facts.count == 1)
        }
    }

    @Test func `what is no message of its kind is parked`() async throws {
        try await IntakeDatabase.with("unreadable") { intake in
            var session = try intake.open()
            let good = try received("x")
            let bad = Incoming(header: good.header, body: Array("{}".utf8), isRedelivered: false)
            #expect(try session.run([bad]).first?.parkedReason == Incoming.unreadable)
        }
    }
}
