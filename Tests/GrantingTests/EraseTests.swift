import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Erasing users, on the real tables.
@Suite(.timeLimit(.minutes(2))) struct EraseTests {
    private static let name = "alice-canary"

    @Test func `an erasure takes out what names the user, the books stay and balance (B-027)`() async throws {
        let definition = Shop.definition(products: StarterDecisionTests.products())
        try await GrantingDatabase.with("erase", definition) { granting in
            var session = try granting.open()
            let starter = try message(
                PurchaseVerified(
                    app: Shop.app, userID: UserID(Self.name), orderNumber: nil,
                    transaction: transaction("9", StarterDecisionTests.pack),
                    identities: [StarterDecisionTests.identity("a")]))
            _ = try session.run(DecideWallet(), [try ordering("A1", token: Shop.aliceToken, by: Self.name)])
            _ = try session.run(
                GrantPurchases(), [try verified(transaction("1"), by: Self.name), starter])
            _ = try session.run(
                DecideWallet(),
                [
                    try spending(20, id: "s1", by: Self.name),
                    try message(
                        ConsentChangeRequested(
                            app: Shop.app, userID: UserID(Self.name), isGiven: true, termsVersion: "1")),
                ])
            let before = try granting.coins()[Self.name]
            let asked = try session.run(RunCommands(), [try erasing(Self.name)])[0]
            let customer = try #require(try asked.answer(UserEraseAnswered.self)?.customer)
            #expect(asked.facts.map(\.type) == [.userErased] && asked.facts.map(\.key) == [customer.rawValue])
            #expect(try granting.tablesNaming(Self.name) == [])
            #expect(try granting.rows("SELECT FROM granting.identities").isEmpty)
            #expect(try granting.rows("SELECT FROM granting.starter_claims WHERE transaction_id = '9'").count == 1)
            #expect(try granting.coins() == ["-": before ?? -1])
            #expect(
                try granting.rows("SELECT FROM granting.orders WHERE expires_at <= clock_timestamp()").count == 1,
                "an order that waits has ended")
            #expect(try granting.imbalances() == [])
            // Nobody has consented any more.
            let question = ConsumptionAssessmentRequested(
                app: Shop.app, environment: .production, transactionID: TransactionID("1"))
            let assessed = try session.run(AnswerQueries(), [try message(question)])[0].answer(ConsumptionAssessed.self)
            #expect(assessed?.hasConsented == false)
            // A refund still finds its purchase.
            _ = try session.run(
                ApplyNotifications(), [try notified(.refund, transaction("1", signed: 1, revoked: 100_000))])
            #expect(try granting.imbalances() == [])
            #expect(try granting.rows("SELECT FROM granting.grants WHERE applied_share = 100000").count == 1)
        }
    }

    @Test func `a later login gets a wallet of its own, and the starter offer stays used up (B-027)`() async throws {
        let definition = Shop.definition(products: StarterDecisionTests.products())
        try await GrantingDatabase.with("erase_again", definition) { granting in
            var session = try granting.open()
            func starter(_ id: String) throws -> Incoming {
                try message(
                    PurchaseVerified(
                        app: Shop.app, userID: UserID(Self.name), orderNumber: nil,
                        transaction: transaction(id, StarterDecisionTests.pack),
                        identities: [StarterDecisionTests.identity("a")])
                ).later
            }
            _ = try session.run(GrantPurchases(), [try starter("1")])
            _ = try session.run(RunCommands(), [try erasing(Self.name)])
            let second = try session.run(GrantPurchases(), [try starter("2")])[0]
            #expect(try second.answer(PurchaseAnswered.self)?.code == .paymentStarterPackIneligible)
            #expect(try granting.users() == [Self.name, "-"])
        }
    }

    @Test func `the same erasure again changes nothing, whoever is called so by then`() async throws {
        try await GrantingDatabase.with("erase_repeated") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: Self.name)])
            let id = MessageID(UUIDText.random())
            let first = try session.run(RunCommands(), [try erasing(Self.name, id: id)])[0]
            _ = try session.run(DecideWallet(), [try spending(1, id: "s", by: Self.name).later])
            let again = try session.run(RunCommands(), [try erasing(Self.name, id: id)])[0]
            #expect(try again.answer(UserEraseAnswered.self) == first.answer(UserEraseAnswered.self))
            #expect(try granting.users() == [Self.name, "-"])
            // Asked for anew, the new one goes too; then there is nobody left.
            _ = try session.run(RunCommands(), [try erasing(Self.name)])
            let none = try session.run(RunCommands(), [try erasing(Self.name)])[0]
            #expect(try none.answer(UserEraseAnswered.self)?.customer == nil && none.facts.isEmpty)
            #expect(try granting.users() == ["-", "-"])
        }
    }

    /// How a purchase that was handed in before the erasure proves its owner, and who has it in the end.
    enum Proof: String, CaseIterable, Sendable {
        case token, order, nothing
    }

    @Test(arguments: Proof.allCases, [true, false])
    func `a purchase handed in before an erasure and delivered after it names nobody again (C7)`(
        proof: Proof, isErasedFirst: Bool
    ) async throws {
        try await GrantingDatabase.with("erase_race_\(proof.rawValue)_\(isErasedFirst)") { granting in
            var session = try granting.open()
            _ = try session.run(DecideWallet(), [try ordering("A1", token: Shop.aliceToken, by: Self.name)])
            let purchase = try verified(
                transaction("1", token: proof == .token ? Shop.aliceToken : nil), by: Self.name,
                order: proof == .order ? OrderNumber("A1") : nil)
            func deliver() throws { _ = try session.run(GrantPurchases(), [purchase]) }
            if !isErasedFirst { try deliver() }
            _ = try session.run(RunCommands(), [try erasing(Self.name)])
            try deliver()
            #expect(try granting.users() == ["-"])
            #expect(try granting.tablesNaming(Self.name) == [])
            #expect(try granting.imbalances() == [])
            let isGranted = !isErasedFirst || proof != .nothing
            #expect(try granting.coins() == (isGranted ? ["-": 60] : [:]))
            guard !isGranted else { return }
            // Nothing proves whose it is: it waits, for whoever hands it in by a later login.
            let claimed = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "bob").later])[0]
            #expect(try claimed.answer(PurchaseAnswered.self)?.status == .granted)
        }
    }

    @Test func `what else a user sent before an erasure is nobody's after it`() async throws {
        try await GrantingDatabase.with("erase_wallet") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: Self.name)])
            _ = try session.run(RunCommands(), [try erasing(Self.name)])
            let old: [Incoming] = [
                try ordering("A1", token: Shop.aliceToken, by: Self.name), try spending(10, id: "s", by: Self.name),
                try message(TokenRequested(app: Shop.app, userID: UserID(Self.name), appAccountToken: Shop.bobToken)),
                try message(
                    ConsentChangeRequested(app: Shop.app, userID: UserID(Self.name), isGiven: true, termsVersion: "1")),
            ]
            // In one batch with what the same name says by a new login.
            let outcomes = try session.run(DecideWallet(), old + [try spending(10, id: "t", by: Self.name).later])
            for outcome in outcomes.prefix(old.count) { #expect(outcome.facts.isEmpty && outcome.parkedReason == nil) }
            #expect(try outcomes.last?.answer(SpendAnswered.self)?.outcome == .notEnough)
            #expect(try granting.users() == [Self.name, "-"])
            #expect(try granting.coins()["-"] == 60)
            #expect(try granting.rows("SELECT FROM granting.orders").isEmpty)
            #expect(try granting.rows("SELECT FROM granting.consents").isEmpty)
        }
    }

    @Test func `a held purchase that nobody owns is not granted to an erased user by a re-drive`() async throws {
        try await GrantingDatabase.with("erase_held", Shop.definition(products: [])) { granting in
            var session = try granting.open()
            let token = Shop.aliceToken
            _ = try session.run(
                GrantPurchases(), [try verified(transaction("1", environment: .sandbox), by: Self.name)])
            _ = token
            _ = try session.run(RunCommands(), [try erasing(Self.name)])
            let submitters = try granting.rows(
                "SELECT FROM granting.transactions WHERE owner IS NULL AND submitter IS NOT NULL")
            #expect(submitters.isEmpty)
            #expect(try granting.tablesNaming(Self.name) == [])
        }
    }

    @Test func `nobody writes a name back into what is erased`() async throws {
        try await GrantingDatabase.with("erase_sealed") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "guest")])
            _ = try session.run(RunCommands(), [try transferring("guest", to: Self.name)])
            _ = try session.run(RunCommands(), [try erasing(Self.name)])
            for sql in [
                "UPDATE granting.user_commands SET former_id = 'x' WHERE kind = 'transfer'",
                "UPDATE granting.former_users SET until = 0", "DELETE FROM granting.user_commands",
            ] {
                #expect(throws: PostgresError.self) { try granting.database.execute(sql) }
            }
            #expect(try granting.tablesNaming("guest") == [])
        }
    }
}
