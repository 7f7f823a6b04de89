import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// The same from a real database: lots and draws as purchases, spends and refunds leave them.
@Suite(.timeLimit(.minutes(2))) struct ConsumptionQueryTests {
    private static func definition(_ consumption: ConsumptionPolicy?) -> CatalogDefinition {
        var definition = Shop.definition()
        definition.policies.consumption = consumption
        return definition
    }

    private static let answering = ConsumptionPolicy(preference: .grantProrated, isSampleProvided: false)

    /// Asks as Intake does.
    private static func assess(
        _ session: inout Session, _ id: String, _ environment: StoreEnvironment = .production
    ) throws -> ConsumptionAssessed? {
        let question = ConsumptionAssessmentRequested(
            app: Shop.app, environment: environment, transactionID: TransactionID(id))
        return try session.run(AnswerQueries(), [try message(question)])[0].answer(ConsumptionAssessed.self)
    }

    @Test func `spends of this purchase count, clawbacks and spends of others do not (A-116)`() async throws {
        try await GrantingDatabase.with("consumption", Self.definition(Self.answering)) { granting in
            var session = try granting.open()
            #expect(try Self.assess(&session, "1")?.isOwned == false, "nobody has brought it")
            _ = try session.run(
                GrantPurchases(),
                [try verified(transaction("1"), by: "alice"), try verified(transaction("2"), by: "alice")])
            #expect(try Self.assess(&session, "1")?.hasConsented == false)
            _ = try session.run(
                DecideWallet(),
                [try ConsentTests.message(true, by: "alice", at: 1_000), try spending(20, id: "s1", by: "alice")])
            func share(_ id: String) throws -> Int64? { try Self.assess(&session, id)?.consumedShare }
            let assessed = try #require(try Self.assess(&session, "1"))
            #expect(assessed.hasConsented && assessed.isDelivered && assessed.productType == "Consumable")
            #expect(assessed.consumedShare == 33_333 && assessed.preference == .grantProrated)
            #expect(assessed.purchases == 2 && assessed.refunds == 0)
            #expect(try share("2") == 0)
            // A refund of half of the second takes 30 of its own lot; nothing was used of it.
            _ = try session.run(
                ApplyNotifications(), [try notified(.refund, transaction("2", signed: 1, revoked: 50_000))])
            #expect(try share("2") == 0)
            #expect(try Self.assess(&session, "1")?.refunds == 1)
            _ = try session.run(DecideWallet(), [try spending(70, id: "s2", by: "alice")])
            #expect(try share("1") == 100_000)
            #expect(try share("2") == 50_000, "30 of the 60 it granted were used")
            #expect(try Self.assess(&session, "1")?.preference == .decline)
            _ = try session.run(
                ApplyNotifications(), [try notified(.refundReversed, transaction("2", signed: 2, revoked: 0))])
            #expect(try share("2") == 50_000)
        }
    }

    @Test func `several assets, the sandbox, a held purchase and an erased user`() async throws {
        try await GrantingDatabase.with("consumption_kinds", Self.definition(Self.answering)) { granting in
            var session = try granting.open()
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("3", Shop.bundle), by: "alice"),
                    try verified(transaction("4", environment: .sandbox), by: "alice"),
                    try verified(transaction("5", ProductID("unknown")), by: "bob"),
                    try verified(transaction("6", ProductID("pyy_card")), by: "bob"),
                ])
            for user in ["alice", "bob"] {
                _ = try session.run(DecideWallet(), [try ConsentTests.message(true, by: user, at: 1_000)])
            }
            _ = try session.run(
                DecideWallet(), [try spending(15, id: "m", by: "alice", asset: Shop.minutes)])
            #expect(try Self.assess(&session, "3")?.consumedShare == 25_000, "half of one of two assets")
            #expect(try Self.assess(&session, "4", .sandbox)?.isDelivered == true)
            #expect(try Self.assess(&session, "4")?.isOwned == false, "each environment by itself")
            let card = try #require(try Self.assess(&session, "6"))
            #expect(card.isDelivered && card.consumedShare == nil && card.preference == nil)
            let held = try #require(try Self.assess(&session, "5"))
            #expect(!held.isDelivered && held.consumedShare == 0)
            try granting.database.execute("UPDATE granting.customers SET user_id = NULL WHERE user_id = 'alice'")
            let erased = try #require(try Self.assess(&session, "3"))
            #expect(!erased.isOwned && !erased.hasConsented, "consent went with the user")
        }
    }

    @Test func `the policy in force decides whether Apple is answered at all`() async throws {
        try await GrantingDatabase.with("consumption_policy", Self.definition(nil)) { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            #expect(try Self.assess(&session, "1")?.isAnswered == false)
            _ = try session.run(RunCommands(), [try granting.importing(Self.definition(Self.answering), version: 1)])
            #expect(try Self.assess(&session, "1")?.isAnswered == true)
        }
    }

    @Test func `a token of ours tells whose an unclaimed purchase is`() async throws {
        try await GrantingDatabase.with("consumption_token", Self.definition(Self.answering)) { granting in
            var session = try granting.open()
            let order = OrderRequested(
                app: Shop.app, userID: UserID("alice"), productID: Shop.coins60, orderNumber: OrderNumber("A1"),
                appAccountToken: Shop.aliceToken)
            _ = try session.run(DecideWallet(), [try message(order)])
            _ = try session.run(
                DecideWallet(), [try ConsentTests.message(true, by: "alice", at: 1_000)])
            let asked = transaction("9", ProductID("unknown"), token: Shop.aliceToken)
            _ = try session.run(ApplyNotifications(), [try notified(.consumptionRequest, asked)])
            let assessed = try #require(try Self.assess(&session, "9"))
            #expect(assessed.isOwned && assessed.hasConsented && !assessed.isDelivered)
            #expect(assessed.preference == .grantFull && assessed.consumedShare == 0)
            #expect(assessed.appAccountToken == Shop.aliceToken)
        }
    }
}
