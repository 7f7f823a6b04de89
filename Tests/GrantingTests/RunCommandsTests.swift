import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

@Suite struct RunCommandsTests {
    @Test func `an import comes into force as a whole, its redelivery is answered the same`() async throws {
        try await GrantingDatabase.with("import", nil) { granting in
            var session = try granting.open()
            let first = try granting.importing(Shop.definition(), version: 0)
            let outcome = try session.run(RunCommands(), [first])[0]
            let answer = try #require(try outcome.answer(CatalogAnswered.self))
            #expect(answer.catalogVersion == 1 && answer.problems == [])
            #expect(answer.definition?.products.count == Shop.products.count)
            #expect(outcome.facts.map(\.type) == [.catalogImported])
            var changed = Shop.definition()
            changed.products.removeLast()
            _ = try session.run(RunCommands(), [try granting.importing(changed, version: 1)])
            let redelivered = try session.run(RunCommands(), [first])[0]
            #expect(try redelivered.answer(CatalogAnswered.self) == answer)
            #expect(redelivered.facts.isEmpty)
            let versions = try granting.rows("SELECT count(*) AS n FROM granting.product_versions WHERE version = 2")
            #expect(try versions[0].int8("n") == 1, "only the product that left is new, disabled")
            let stale = try session.run(RunCommands(), [try granting.importing(Shop.definition(), version: 1)])[0]
            #expect(try stale.answer(CatalogAnswered.self)?.problems.count == 1)
            let same = try session.run(RunCommands(), [try granting.importing(changed, version: 2)])[0]
            #expect(try same.answer(CatalogAnswered.self)?.catalogVersion == 2)
            #expect(same.facts.isEmpty)
        }
    }

    @Test func `purchases held for an unknown product are delivered after its import, all of them (A-083)`()
        async throws
    {
        try await GrantingDatabase.with("redrive", Shop.definition(products: [])) { granting in
            var session = try granting.open()
            let count = Int(Redrives.window) + 60
            let batch = try (1...count).map { try verified(transaction("\($0)"), by: "user-\($0 % 7)") }
            let held = try session.run(GrantPurchases(), batch)
            #expect(try held[0].answer(PurchaseAnswered.self)?.code == .unknownAppleProductID)
            #expect(held.flatMap(\.facts).count == count)
            let imported = try session.run(RunCommands(), [try granting.importing(Shop.definition(), version: 1)])[0]
            var waiting = imported.facts.filter { $0.type == .purchaseRedriveRequested }
            #expect(waiting.count == Int(Redrives.window))
            var grants = 0
            while !waiting.isEmpty {
                let round = Array(waiting.prefix(100))
                waiting.removeFirst(round.count)
                let outcomes = try session.run(RunCommands(), try round.map(redelivered))
                let facts = outcomes.flatMap(\.facts)
                grants += facts.filter { $0.type == .purchaseGranted }.count
                waiting += facts.filter { $0.type == .purchaseRedriveRequested }
                #expect(try session.run(RunCommands(), try round.map(redelivered)).flatMap(\.facts).isEmpty)
            }
            #expect(grants == count)
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `whatever an import changes, everything held is decided anew once, also what an older version held`()
        async throws
    {
        try await GrantingDatabase.with("redrive_all") { granting in
            var session = try granting.open()
            let held = [
                transaction("1", ProductID("unknown")), transaction("2", environment: .sandbox),
                transaction("3", Shop.forever, type: "Non-Consumable", ownership: "FAMILY_SHARED"),
                transaction("4", Shop.subscription, type: "Auto-Renewable Subscription"),
            ]
            _ = try session.run(GrantPurchases(), try held.map { try verified($0, by: "bob") })
            // As a version left it that did not know subscriptions.
            try granting.database.execute(
                """
                SET session_replication_role = replica; DELETE FROM granting.draws; DELETE FROM granting.lots;
                DELETE FROM granting.grants; DELETE FROM granting.ledger; DELETE FROM granting.accounts;
                UPDATE granting.transactions SET delivered_by = NULL, held_reason = 'not_deliverable'
                WHERE transaction_id = '4'
                """)
            var changed = Shop.definition()
            changed.products[0].sort = 99
            let imported = try session.run(RunCommands(), [try granting.importing(changed, version: 1)])[0]
            let asked = imported.facts.filter { $0.type == .purchaseRedriveRequested }
            #expect(asked.count == 4)
            let outcomes = try session.run(RunCommands(), try asked.map(redelivered))
            #expect(outcomes.flatMap(\.facts).map(\.type) == [.purchaseGranted], "the subscription, and nothing again")
        }
    }

    @Test func `a sandbox purchase is re-driven for its submitter with the order once the policy allows it`()
        async throws
    {
        let nobody = Shop.definition(audience: .nobody)
        try await GrantingDatabase.with("redrive_policy", nobody) { granting in
            var session = try granting.open()
            let order = OrderRequested(
                app: Shop.app, userID: UserID("bob"), productID: Shop.coins60, orderNumber: OrderNumber("B1"),
                appAccountToken: Shop.bobToken)
            _ = try session.run(DecideWallet(), [try message(order)])
            let sandbox = transaction("1", environment: .sandbox)
            _ = try session.run(GrantPurchases(), [try verified(sandbox, by: "bob", order: OrderNumber("B1"))])
            // Import and re-drive in one batch: the re-drive sees the catalogue of its own transaction.
            let redrive = PurchaseRedriveRequested(transactionID: TransactionID("1"), environment: .sandbox)
            let outcomes = try session.run(
                RunCommands(),
                [try granting.importing(Shop.definition(audience: .everybody), version: 1), try message(redrive)])
            #expect(outcomes[0].facts.map(\.type) == [.catalogImported, .purchaseRedriveRequested])
            #expect(outcomes[1].facts.map(\.type) == [.purchaseGranted])
            let delivered = try granting.rows("SELECT delivered_transaction FROM granting.orders")
            #expect(try delivered[0].optionalText("delivered_transaction") == "1")
        }
    }

    @Test(arguments: [Int64(1), 24, 8_760])
    func `an order expires after the hours in force when it was made, its token never (A-119)`(hours: Int64)
        async throws
    {
        var definition = Shop.definition()
        definition.policies.orderExpiryHours = hours
        try await GrantingDatabase.with("expiry_\(hours)", definition) { [definition] granting in
            var session = try granting.open()
            let order = OrderRequested(
                app: Shop.app, userID: UserID("bob"), productID: Shop.coins60, orderNumber: OrderNumber("B1"),
                appAccountToken: Shop.bobToken)
            let earliest = WallClock.milliseconds + hours * 3_600_000
            let outcomes = try session.run(DecideWallet(), [try message(order)])
            let latest = WallClock.milliseconds + hours * 3_600_000
            // What is imported later changes no order that was made.
            var longer = definition
            longer.policies.orderExpiryHours = 48
            _ = try session.run(RunCommands(), [try granting.importing(longer, version: 1)])
            let stored = try granting.rows("SELECT expires_at FROM granting.orders").first?
                .timestampMilliseconds("expires_at")
            let told = try MessageCoding.decode(OrderCreated.self, from: outcomes[0].facts.first?.body ?? []).expiresAt
            #expect(try #require(stored) == told)
            #expect((earliest...latest).contains(told))
            // Asked to buy, approved after that: the order is only a label.
            try granting.database.execute("UPDATE granting.orders SET expires_at = created_at")
            let late = try session.run(
                GrantPurchases(),
                [try verified(transaction("1", token: Shop.bobToken), by: "bob", order: OrderNumber("B1"))])
            #expect(try late[0].answer(PurchaseAnswered.self)?.status == .granted)
        }
    }

    /// A fact as the lane publishes it and the broker brings it back.
    private func redelivered(_ fact: Fact) throws -> Incoming {
        Incoming(
            header: MessageHeader(
                id: fact.id, type: fact.type, version: fact.version, occurredAt: 0, correlationID: fact.correlationID),
            body: fact.body, isRedelivered: false)
    }
}
