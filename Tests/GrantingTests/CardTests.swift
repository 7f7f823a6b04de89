import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Cards through the database: what is owned is loaded with what is decided.
@Suite struct CardTests {
    private static let definition = Shop.definition(audience: .everybody, products: CardDecisionTests.products)

    private static func lifetime(_ id: String, signed: Int64 = 0, revoked: Int64? = nil) -> VerifiedTransaction {
        transaction(id, CardDecisionTests.lifetime, signed: signed, revoked: revoked)
    }

    private static func entitlements(_ session: inout Session) throws -> [EntitlementState] {
        let question = try message(EntitlementsRequested(app: Shop.app, userID: UserID("alice")))
        return try session.run(AnswerQueries(), [question])[0].answer(EntitlementsAnswered.self)?.entitlements ?? []
    }

    @Test(arguments: [1, 2, 3])
    func `a card for ever is delivered once, however its purchases are batched, and the next with its refund (C-014)`(
        size: Int
    ) async throws {
        try await GrantingDatabase.with("card_\(size)", Self.definition) { granting in
            var session = try granting.open()
            var rest = try ["1", "2", "3"].map { try verified(Self.lifetime($0), by: "alice") }[...]
            var codes: [AnswerCode?] = []
            while !rest.isEmpty {
                let outcomes = try session.run(GrantPurchases(), Array(rest.prefix(size)))
                codes += try outcomes.map { try $0.answer(PurchaseAnswered.self)?.code }
                rest = rest.dropFirst(size)
            }
            #expect(codes == [nil, .alreadyOwned, .alreadyOwned])
            let waiting = "SELECT transaction_id FROM granting.transactions WHERE held_reason = 'owned_permanently'"
            #expect(try granting.rows(waiting).count == 2)
            let refund = try notified(.refund, Self.lifetime("1", signed: 5, revoked: 100_000), id: Self.refund)
            let facts = try session.run(ApplyNotifications(), [refund])[0].facts
            #expect(facts.filter { $0.type == .purchaseGranted }.count == 1)
            #expect(
                try session.run(ApplyNotifications(), [refund])[0].facts.isEmpty, "delivered again, it is news no more")
            #expect(try granting.rows(waiting).map { try $0.text("transaction_id") } == ["3"])
            let entitlements = try Self.entitlements(&session)
            #expect(entitlements.map(\.isActive) == [true] && entitlements.map(\.until) == [nil])
            #expect(try granting.rows("SELECT FROM granting.grants WHERE applied_share = 0").count == 1)
            #expect(try granting.imbalances() == [])
        }
    }

    private static let refund = MessageID("00000000-0000-4000-8000-0000000000f1")

    @Test func `of two devices of one account that buy a card for ever at once, one is delivered`() async throws {
        try await GrantingDatabase.with("card_race", Self.definition) { granting in
            for round in 1...10 {
                let codes = try together(2) { number in
                    var session = try granting.open()
                    let purchase = try verified(Self.lifetime("\(round)-\(number)"), by: "user-\(round)")
                    return try session.run(GrantPurchases(), [purchase])[0].answer(PurchaseAnswered.self)?.code
                }
                #expect(codes.filter { $0 == nil }.count == 1 && codes.contains(.alreadyOwned))
            }
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `the answer to a card tells its end as the list of entitlements does (C-017)`() async throws {
        try await GrantingDatabase.with("card_month", Self.definition) { granting in
            var session = try granting.open()
            for (id, days) in [("1", Int64(0)), ("2", 10), ("3", 100)] {
                let month = transaction(
                    id, CardDecisionTests.month, bought: Shop.day + days * Entitlements.day)
                let outcome = try session.run(GrantPurchases(), [try verified(month, by: "alice")])[0]
                let answer = try #require(try outcome.answer(PurchaseAnswered.self))
                #expect(answer.entitlement == (try Self.entitlements(&session).first) && answer.rewardID == 3_001)
                #expect(answer.entitlement?.until == Shop.day + [30, 60, 130][(Int(id) ?? 1) - 1] * Entitlements.day)
            }
            let refund = transaction("2", CardDecisionTests.month, signed: 9, revoked: 100_000)
            _ = try session.run(ApplyNotifications(), [try notified(.refund, refund)])
            #expect(try Self.entitlements(&session).first?.until == Shop.day + 130 * Entitlements.day)
        }
    }

    @Test func `an offer that waits with a card is used up when the card is delivered`() async throws {
        var pack = CardDecisionTests.card(CardDecisionTests.lifetime, "Consumable", "forever", days: nil)
        pack.starter = StarterOffer(offer: "starter", substitute: [AssetAmount(asset: Shop.coins, amount: 1)])
        let definition = Shop.definition(
            products: [
                pack, CardDecisionTests.card(CardDecisionTests.permanent, "Non-Consumable", "forever", days: nil),
            ])
        try await GrantingDatabase.with("card_starter", definition) { granting in
            var session = try granting.open()
            let first = transaction("1", CardDecisionTests.permanent, type: "Non-Consumable")
            _ = try session.run(GrantPurchases(), [try verified(first, by: "alice")])
            let offer = PurchaseVerified(
                app: Shop.app, userID: UserID("alice"), orderNumber: nil, transaction: Self.lifetime("2"),
                identities: [StarterDecisionTests.identity("a")])
            let held = try session.run(GrantPurchases(), [try message(offer)])[0]
            #expect(try held.answer(PurchaseAnswered.self)?.code == .alreadyOwned)
            #expect(try granting.rows("SELECT FROM granting.starter_claims WHERE customer IS NOT NULL").isEmpty)
            let refund = transaction(
                "1", CardDecisionTests.permanent, type: "Non-Consumable", signed: 5, revoked: 100_000)
            _ = try session.run(ApplyNotifications(), [try notified(.refund, refund)])
            #expect(try granting.rows("SELECT FROM granting.starter_claims WHERE customer IS NOT NULL").count == 1)
            #expect(try granting.imbalances() == [])
        }
    }
}
