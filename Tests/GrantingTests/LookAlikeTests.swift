import Messages
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Ids that look alike but differ in their bytes: `é` as one code point and as two. Swift takes such texts for equal,
/// PostgreSQL does not; what one of them owns must never be the other's.
@Suite struct LookAlikeTests {
    private static let composed = "andr\u{E9}"
    private static let decomposed = "andre\u{301}"

    @Test func `two users whose ids only look alike have two wallets, also within one batch (S12)`() async throws {
        try await GrantingDatabase.with("look_alike_users") { granting in
            var session = try granting.open()
            let granted = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1"), by: Self.composed),
                    try verified(transaction("2"), by: Self.decomposed),
                ])
            #expect(try granted.map { try $0.answer(PurchaseAnswered.self)?.balances.map(\.amount) } == [[60], [60]])
            let spent = try session.run(
                DecideWallet(),
                [try spending(60, id: "a", by: Self.composed), try spending(60, id: "b", by: Self.decomposed)])
            #expect(
                try spent.map { try $0.answer(SpendAnswered.self)?.outcome } == [.spent, .spent], "each spends its own")
            #expect(try granting.rows("SELECT FROM granting.customers").count == 2)
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `two spends whose ids only look alike are two decisions, also within one batch (S12)`() async throws {
        try await GrantingDatabase.with("look_alike_spends") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            let spent = try session.run(
                DecideWallet(),
                [try spending(10, id: Self.composed, by: "alice"), try spending(10, id: Self.decomposed, by: "alice")])
            #expect(try spent.map { try $0.answer(SpendAnswered.self)?.balanceAfter } == [50, 40])
            #expect(try granting.rows("SELECT FROM granting.spends").count == 2)
        }
    }
}
