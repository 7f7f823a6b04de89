import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Sweeping the sandbox out of the wallets.
@Suite(.timeLimit(.minutes(2))) struct SweepTests {
    private static let everybody = Shop.definition(audience: .everybody)

    private static func answer(_ outcome: Outcome) throws -> SandboxSweepAnswered? {
        try outcome.answer(SandboxSweepAnswered.self)
    }

    private static func buy(_ session: inout Session, _ ids: ClosedRange<Int>, _ environment: StoreEnvironment) throws {
        _ = try session.run(
            GrantPurchases(),
            try ids.map { try verified(transaction("\($0)", environment: environment), by: "alice") })
    }

    @Test func `sandbox lots go to zero by lines of their own, production lots are not touched (A-054)`() async throws {
        try await GrantingDatabase.with("sweep", Self.everybody) { granting in
            var session = try granting.open()
            try Self.buy(&session, 1...2, .sandbox)
            try Self.buy(&session, 3...3, .production)
            _ = try session.run(DecideWallet(), [try spending(70, id: "s", by: "alice")])
            let dry = try session.run(RunCommands(), [try sweeping(isDryRun: true)])[0]
            let expected = SandboxSweepAnswered(
                purchases: 2, amounts: [AssetAmount(asset: Shop.coins, amount: 50)], next: nil)
            #expect(try Self.answer(dry) == expected && dry.facts.isEmpty)
            #expect(try granting.coins() == ["alice": 110])
            let id = MessageID(UUIDText.random())
            let swept = try session.run(RunCommands(), [try sweeping(id: id)])[0]
            #expect(try Self.answer(swept) == expected)
            let fact = try MessageCoding.decode(SandboxSwept.self, from: try #require(swept.facts.first).body)
            #expect(fact.taken == expected.amounts && fact.transactionIDs.map(\.rawValue) == ["1", "2"])
            #expect(fact.balances.first?.amount == 60)
            #expect(try granting.coins() == ["alice": 60])
            let lines = try granting.rows(
                "SELECT source_id, amount, environment FROM granting.ledger WHERE source_type = 'SANDBOX_SWEEP'")
            #expect(try lines.map { try $0.text("source_id").prefix(2) } == ["2/"])
            let left = try granting.rows("SELECT remaining FROM granting.lots WHERE environment = 'Production'")
            #expect(try left.map { try $0.int8("remaining") } == [60])
            #expect(try granting.imbalances() == [])
            // The same message again, and another sweep: nothing is left to be taken.
            #expect(try Self.answer(session.run(RunCommands(), [try sweeping(id: id)])[0]) == expected)
            let again = try Self.answer(session.run(RunCommands(), [try sweeping()])[0])
            #expect(again?.purchases == 0 && again?.amounts == [])
            #expect(try granting.coins() == ["alice": 60])
        }
    }

    @Test func `a sweep goes page by page and is resumed where it was interrupted`() async throws {
        try await GrantingDatabase.with("sweep_pages", Self.everybody) { granting in
            var session = try granting.open()
            let count = Int(SweepSandbox.page) + 20
            try Self.buy(&session, 1...count, .sandbox)
            let first = try #require(try Self.answer(session.run(RunCommands(), [try sweeping()])[0]))
            #expect(first.purchases == SweepSandbox.page && first.next != nil)
            // Begun anew, as if the command line had died: what is swept is not found again.
            let rest = try #require(try Self.answer(session.run(RunCommands(), [try sweeping()])[0]))
            #expect(rest.purchases == 20 && rest.next == nil)
            #expect(try granting.coins() == ["alice": 0])
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `only what is older goes`() async throws {
        try await GrantingDatabase.with("sweep_older", Self.everybody) { granting in
            var session = try granting.open()
            try Self.buy(&session, 1...1, .sandbox)
            let old = try Self.answer(
                session.run(RunCommands(), [try sweeping(before: WallClock.milliseconds - 60_000)])[0])
            #expect(old?.purchases == 0)
            #expect(try granting.coins() == ["alice": 60])
        }
    }

    @Test func `an entitlement from the sandbox ends with the sweep, one that was paid for does not`() async throws {
        try await GrantingDatabase.with("sweep_entitlements", Self.everybody) { granting in
            var session = try granting.open()
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1", Shop.card, environment: .sandbox), by: "alice"),
                    try verified(transaction("2", Shop.card), by: "bob"),
                ])
            func entitled(_ user: String) throws -> Bool {
                let question = EntitlementsRequested(app: Shop.app, userID: UserID(user))
                let answer = try session.run(AnswerQueries(), [try message(question)])[0]
                    .answer(EntitlementsAnswered.self)
                return try #require(answer).entitlements.contains { $0.isActive }
            }
            #expect(try entitled("alice") && entitled("bob"))
            #expect(try Self.answer(session.run(RunCommands(), [try sweeping()])[0])?.purchases == 1)
            #expect(try !entitled("alice") && entitled("bob"))
        }
    }

    @Test func `a card for ever that was swept is owned no more: the next one is delivered`() async throws {
        let definition = Shop.definition(audience: .everybody, products: CardDecisionTests.products)
        try await GrantingDatabase.with("sweep_cards", definition) { granting in
            var session = try granting.open()
            func buy(_ id: String) throws -> AnswerCode? {
                let card = transaction(id, CardDecisionTests.lifetime, environment: .sandbox)
                return try session.run(GrantPurchases(), [try verified(card, by: "alice")])[0]
                    .answer(PurchaseAnswered.self)?.code
            }
            #expect(try buy("1") == nil && buy("2") == .alreadyOwned)
            #expect(try Self.answer(session.run(RunCommands(), [try sweeping()])[0])?.purchases == 1)
            #expect(try buy("3") == nil)
            #expect(try granting.rows("SELECT FROM granting.grants").count == 2)
        }
    }

    @Test func `a refund and its reversal after a sweep keep the books, and what came back can be swept`() async throws
    {
        try await GrantingDatabase.with("sweep_refund", Self.everybody) { granting in
            var session = try granting.open()
            try Self.buy(&session, 1...2, .sandbox)
            func tell(_ type: AppleNotificationType, _ signed: Int64, _ share: Int64) throws {
                _ = try session.run(
                    ApplyNotifications(),
                    [try notified(type, transaction("1", environment: .sandbox, signed: signed, revoked: share))])
                #expect(try granting.imbalances() == [])
            }
            try tell(.refund, 1, 50_000)
            _ = try session.run(RunCommands(), [try sweeping()])
            try tell(.refundReversed, 2, 0)
            #expect(try granting.coins() == ["alice": 30], "what the refund had drawn came back")
            let other = SandboxSweepRequested(
                app: Shop.app, sweep: "00000000-0000-4000-8000-0000000000b2", before: WallClock.milliseconds + 60_000,
                after: nil, actor: "op", isDryRun: false)
            #expect(try Self.answer(session.run(RunCommands(), [try message(other)])[0])?.purchases == 1)
            #expect(try granting.coins() == ["alice": 0])
            try tell(.refund, 3, 100_000)
            let debts = try granting.rows("SELECT FROM granting.debts WHERE environment = 'Production'")
            #expect(debts.isEmpty)
        }
    }

    @Test func `the database refuses a sweep of what was paid for, whoever asks`() async throws {
        try await GrantingDatabase.with("sweep_production") { granting in
            var session = try granting.open()
            try Self.buy(&session, 1...1, .production)
            for sql in [
                "INSERT INTO granting.draws (lot, kind, source_id, amount) SELECT id, 'sweep', 'x', 1 FROM granting.lots",
                "UPDATE granting.grants SET swept_at = now()",
                """
                INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                    environment, cause)
                SELECT customer, asset, 'OUT', 1, 59, 'SANDBOX_SWEEP', 'x', 'Production', gen_random_uuid()
                FROM granting.accounts
                """,
            ] {
                #expect(throws: PostgresError.self) { try granting.database.execute(sql) }
            }
        }
    }

    @Test func `the decision leaves production alone, whoever names it`() {
        var shop = Shop(audience: .everybody)
        _ = shop.submit(transaction("1"), by: Shop.alice)
        _ = shop.submit(transaction("2", environment: .sandbox), by: Shop.alice)
        let keys = shop.books.grants.keys.sorted()
        let swept = shop.books.sweep(keys, "sweep", shop.message())
        #expect(swept.amounts.map(\.amount) == [60] && shop.balance() == 60)
        #expect(shop.books.imbalances == [])
    }
}
