import Messages
import Postgres
import Testing

@testable import Granting

@Suite struct DebtTests {
    /// A shop whose customer has spent all of a purchase that was then refunded: 60 are owed.
    private func indebted(repays: Int64?) -> Shop {
        var shop = Shop(audience: .everybody, repays: repays)
        _ = shop.submit(transaction("1"), by: Shop.alice)
        _ = shop.spend(60, id: "s")
        _ = shop.notify(.refund, transaction("1", signed: 1, revoked: 100_000))
        return shop
    }

    private func owed(_ shop: Shop, _ id: String = "1") -> Int64 {
        shop.books.debts[LotKey(purchase: transaction(id).key, asset: Shop.coins)]?.open ?? 0
    }

    private func lines(_ shop: Shop) -> [String] {
        shop.books.changes.ledger.map { "\($0.direction.rawValue) \($0.amount) \($0.source.rawValue) \($0.sourceID)" }
    }

    @Test func `by default a debt is kept: the next purchase is granted whole (B-125)`() {
        var shop = indebted(repays: nil)
        _ = shop.submit(transaction("2"), by: Shop.alice)
        #expect(shop.balance() == 60 && owed(shop) == 60)
        #expect(shop.books.imbalances == [])
    }

    @Test
    func `by policy a share of each next grant repays, in lines of its own; answers name the gross grant (B-125)`() {
        var shop = indebted(repays: 50_000)
        let next = shop.submit(transaction("2"), by: Shop.alice)
        #expect(next.answer?.amounts.map(\.amount) == [60] && next.answer?.balances.map(\.amount) == [30])
        #expect(owed(shop) == 30)
        #expect(lines(shop).suffix(2) == ["IN 60 APPLE_IAP 2/0", "OUT 30 DEBT_REPAYMENT 1/2/0"])
        guard case .debtRepaid(let fact) = next.announcements.last?.body else {
            Issue.record("not told")
            return
        }
        #expect(fact.amount == 30 && fact.open == 30 && fact.paidBy == TransactionID("2") && fact.balance == 30)
        _ = shop.submit(transaction("3"), by: Shop.alice)
        _ = shop.submit(transaction("4"), by: Shop.alice)
        #expect(owed(shop) == 0 && shop.balance() == 120, "60 owed, so a third grant is whole")
        #expect(shop.books.imbalances == [])
    }

    @Test func `only debts of the same environment are repaid`() {
        var shop = indebted(repays: 100_000)
        _ = shop.submit(transaction("2", environment: .sandbox), by: Shop.alice)
        #expect(shop.balance() == 60 && owed(shop) == 60)
        _ = shop.submit(transaction("3"), by: Shop.alice)
        #expect(shop.balance() == 60 && owed(shop) == 0)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a reversal cancels what is open and gives back what was repaid, into the lots that paid`() {
        var shop = indebted(repays: 50_000)
        _ = shop.submit(transaction("2"), by: Shop.alice)
        _ = shop.notify(.refundReversed, transaction("1", signed: 2))
        #expect(shop.balance() == 60 && owed(shop) == 0)
        #expect(lines(shop).suffix(2) == ["IN 30 DEBT_REPAYMENT_RETURNED 1/2", "IN 0 APPLE_REFUND_REVERSED 1/2"])
        #expect(shop.books.lots[LotKey(purchase: transaction("2").key, asset: Shop.coins)]?.remaining == 60)
        _ = shop.notify(.refund, transaction("1", signed: 3, revoked: 100_000))
        #expect(shop.balance() == 0 && owed(shop) == 0, "refunded again, it takes from the other lot")
        #expect(shop.books.imbalances == [])
    }

    @Test func `what a reversal gives back settles what is owed for other purchases, whatever the policy`() {
        var shop = Shop()
        for id in 1...2 { _ = shop.submit(transaction("\(id)"), by: Shop.alice) }
        _ = shop.spend(60, id: "s")
        _ = shop.notify(.refund, transaction("2", signed: 1, revoked: 100_000))
        let second = shop.notify(.refund, transaction("1", signed: 1, revoked: 100_000))
        #expect(owed(shop) == 60 && second.announcements.count == 2)
        _ = shop.notify(.refundReversed, transaction("2", signed: 2))
        #expect(shop.balance() == 0 && owed(shop) == 0)
        #expect(lines(shop).suffix(2) == ["IN 60 APPLE_REFUND_REVERSED 2/2", "OUT 60 DEBT_REPAYMENT 1/2/2"])
        #expect(shop.books.imbalances == [])
    }

    /// 33,333 milliunits are a third less a bit: 19 of 60 are taken, and the rest of the 20th stays with the customer.
    @Test func `a share in milliunits is rounded down to whole units, each time from the whole grant`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        for (signed, share, balance) in [(1, 33_333, 41), (2, 66_666, 21), (3, 99_999, 1), (4, 100_000, 0)] {
            _ = shop.notify(.refund, transaction("1", signed: Int64(signed), revoked: Int64(share)))
            #expect(shop.balance() == Int64(balance))
        }
        #expect(shop.books.imbalances == [])
    }

    @Test func `debts are repaid through the database as in memory`() async throws {
        let definition = Shop.definition(repays: 50_000)
        try await GrantingDatabase.with("debts", definition) { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            _ = try session.run(DecideWallet(), [try spending(60, id: "s", by: "alice")])
            _ = try session.run(
                ApplyNotifications(), [try notified(.refund, transaction("1", signed: 1, revoked: 100_000))])
            _ = try session.run(GrantPurchases(), [try verified(transaction("2"), by: "alice")])
            func state() throws -> String {
                let row = try granting.rows(
                    """
                    SELECT concat_ws(' ', balance, d.amount, d.settled) AS state
                    FROM granting.accounts JOIN granting.debts d USING (customer)
                    """)
                return try row.first?.text("state") ?? ""
            }
            #expect(try state() == "30 60 30")
            _ = try session.run(ApplyNotifications(), [try notified(.refundReversed, transaction("1", signed: 2))])
            #expect(try state() == "60 0 0")
            #expect(try granting.imbalances() == [])
            let flags = try granting.rows("SELECT FROM granting.risk_flags WHERE kind = 'debt' AND revision = 1")
            #expect(flags.count == 1)
        }
    }
}
