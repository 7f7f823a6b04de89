import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// What was delivered to a user, page by page.
@Suite struct HistoryTests {
    private static func page(
        _ session: inout Session, _ user: String, before: HistoryPlace? = nil, limit: Int64 = 50,
        of app: AppID = Shop.app
    ) throws -> HistoryAnswered {
        let question = HistoryRequested(app: app, userID: UserID(user), before: before, limit: limit)
        let outcome = try session.run(AnswerQueries(), [try message(question)])
        return try #require(try outcome[0].answer(HistoryAnswered.self))
    }

    private static func ids(_ page: HistoryAnswered) -> [String] {
        page.purchases.map(\.place.transactionID.rawValue)
    }

    @Test func `pages of any size tell everything once, newest first, also of one batch (C-065 C-067)`() async throws {
        try await GrantingDatabase.with("history_pages") { granting in
            var session = try granting.open()
            let batch = try (1...5).map { try verified(transaction("\($0)"), by: "alice") }
            _ = try session.run(GrantPurchases(), batch)
            _ = try session.run(GrantPurchases(), [try verified(transaction("6"), by: "alice")])
            // All of a batch at one microsecond: the ids decide.
            _ = try granting.rows("UPDATE granting.grants SET granted_at = '2026-01-01' WHERE transaction_id <> '6'")
            for limit: Int64 in [1, 2, 4, 100] {
                var told: [String] = []
                var before: HistoryPlace?
                repeat {
                    let page = try Self.page(&session, "alice", before: before, limit: limit)
                    #expect(page.purchases.count <= Int(limit))
                    told += Self.ids(page)
                    before = page.nextBefore
                } while before != nil && told.count < 20
                #expect(told == ["6", "5", "4", "3", "2", "1"], "\(limit) a page")
            }
        }
    }

    @Test func `a user sees their own purchases only, of their app only (C-066)`() async throws {
        try await GrantingDatabase.with("history_own") { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            _ = try session.run(GrantPurchases(), [try verified(transaction("2"), by: "bob")])
            #expect(Self.ids(try Self.page(&session, "alice")) == ["1"])
            #expect(Self.ids(try Self.page(&session, "bob")) == ["2"])
            #expect(Self.ids(try Self.page(&session, "carl")) == [])
            #expect(Self.ids(try Self.page(&session, "alice", of: Shop.otherApp)) == [])
            // Somebody else's place is only a place.
            let place = try #require(try Self.page(&session, "bob").purchases.first?.place)
            #expect(Self.ids(try Self.page(&session, "alice", before: place)) == ["1"])
        }
    }

    @Test func `amounts are what was delivered, and a refund has its date and share (C-028 C-065)`() async throws {
        try await GrantingDatabase.with("history_refunds") { granting in
            var session = try granting.open()
            let card = transaction("3", Shop.card)
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1", quantity: 3), by: "alice"),
                    try verified(transaction("2"), by: "alice"), try verified(card, by: "alice"),
                ])
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1", quantity: 3, signed: 7, revoked: 50_000), by: nil),
                    try verified(transaction("2", signed: 9, revoked: 100_000), by: nil),
                ])
            let page = try Self.page(&session, "alice")
            let told = Dictionary(uniqueKeysWithValues: page.purchases.map { ($0.place.transactionID.rawValue, $0) })
            #expect(told["1"]?.amounts == [AssetAmount(asset: Shop.coins, amount: 180)])
            #expect(told["1"]?.quantity == 3 && told["1"]?.revokedShare == 50_000)
            #expect(told["2"]?.revokedShare == 100_000 && told["2"]?.revokedAt != nil)
            #expect(told["3"]?.revokedShare == 0 && told["3"]?.revokedAt == nil)
            // Reversed: it is as if nothing had been.
            _ = try session.run(GrantPurchases(), [try verified(transaction("2", signed: 10), by: nil)])
            let reversed = try Self.page(&session, "alice").purchases.first { $0.place.transactionID.rawValue == "2" }
            #expect(reversed?.revokedShare == 0 && reversed?.revokedAt == nil)
        }
    }

    @Test func `what was delivered by the first of a chain of restores is told once, with the restore's refund`()
        async throws
    {
        try await GrantingDatabase.with("history_restores") { granting in
            var session = try granting.open()
            func owned(_ id: String, signed: Int64 = 0, revoked: Int64? = nil) -> VerifiedTransaction {
                transaction(
                    id, Shop.forever, original: "1", type: "Non-Consumable", signed: signed, revoked: revoked)
            }
            _ = try session.run(GrantPurchases(), [try verified(owned("1"), by: "alice")])
            _ = try session.run(GrantPurchases(), [try verified(owned("2", signed: 1), by: "alice")])
            #expect(Self.ids(try Self.page(&session, "alice")) == ["1"])
            _ = try session.run(GrantPurchases(), [try verified(owned("2", signed: 2, revoked: 100_000), by: nil)])
            let told = try #require(try Self.page(&session, "alice").purchases.first)
            #expect(told.revokedShare == 100_000 && told.revokedAt != nil)
        }
    }
}
