import Messages
import Testing

@testable import Granting

@Suite struct ClawbackTests {
    @Test func `a refund takes its own lot first, though others are older`() {
        var shop = Shop()
        for id in ["1", "2", "3"] { _ = shop.submit(transaction(id), by: Shop.alice) }
        _ = shop.notify(.refund, transaction("3", signed: 1, revoked: 50_000))
        let left = ["1", "2", "3"].map {
            shop.books.lots[LotKey(purchase: transaction($0).key, asset: Shop.coins)]?.remaining
        }
        #expect(left == [60, 60, 30])
    }

    @Test func `a purchase refunded in full before its delivery settles its order; reversed, it is delivered on it`() {
        var shop = Shop()
        _ = shop.order("A1")
        _ = shop.notify(.refund, transaction("1", token: Shop.aliceToken, signed: 1, revoked: 100_000))
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == nil, "a refund alone claims nothing")
        let sent = shop.submit(transaction("1", token: Shop.aliceToken), by: Shop.alice, order: OrderNumber("A1"))
        #expect(sent.answer?.code == .transactionAlreadyRevoked)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == transaction("1").key)
        // The next purchase on it is a second one, as if the first had been delivered.
        _ = shop.submit(transaction("2"), by: Shop.alice, order: OrderNumber("A1"))
        #expect(shop.books.purchases[transaction("2").key]?.orderNumber == OrderNumber("IAP-sibling-2"))
        _ = shop.notify(.refundReversed, transaction("1", token: Shop.aliceToken, signed: 2))
        #expect(shop.books.grants[transaction("1").key]?.orderNumber == OrderNumber("A1"))
        #expect(shop.balance() == 120 && shop.books.imbalances == [])
        #expect(shop.books.changes.newOrders.count == 2, "A1 and one sibling")
    }

    private func lines(_ shop: Shop) -> [String] {
        shop.books.changes.ledger.map { "\($0.direction.rawValue) \($0.amount) \($0.source.rawValue) \($0.sourceID)" }
    }

    @Test func `a refund takes back what was granted and says so (A-145 C-081)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        let refund = shop.submit(transaction("1", signed: 1, revoked: 100_000), by: nil)
        #expect(shop.balance() == 0)
        #expect(lines(shop) == ["IN 60 APPLE_IAP 1/0", "OUT 60 APPLE_REFUND 1/1"])
        guard case .clawedBack(let fact) = refund.announcements.first?.body else {
            Issue.record("no fact")
            return
        }
        #expect(fact.revision == 1 && fact.revokedShare == 100_000)
        #expect(fact.taken.map(\.amount) == [60] && fact.owed.map(\.amount) == [0])
        #expect(refund.announcements.first?.revision == 1)
        #expect(shop.submit(transaction("1"), by: Shop.alice).answer?.code == .transactionAlreadyRevoked)
        #expect(shop.books.imbalances == [])
    }

    @Test func `each change of the share moves only the difference: 40, 100, 0, 30 per cent`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        for (signed, share, balance) in [(1, 40_000, 36), (2, 100_000, 0), (3, 0, 60), (4, 30_000, 42)] {
            let statement = transaction("1", signed: Int64(signed), revoked: share == 0 ? nil : Int64(share))
            _ = shop.submit(statement, by: nil)
            #expect(shop.balance() == Int64(balance))
            #expect(shop.submit(statement, by: nil).announcements.isEmpty, "the same statement again changes nothing")
        }
        #expect(
            lines(shop) == [
                "IN 60 APPLE_IAP 1/0", "OUT 24 APPLE_REFUND 1/1", "OUT 36 APPLE_REFUND 1/2",
                "IN 60 APPLE_REFUND_REVERSED 1/3", "OUT 18 APPLE_REFUND 1/4",
            ])
        #expect(shop.books.imbalances == [])
    }

    @Test func `a refund larger than the balance goes to zero and leaves a debt (A-111 BR09)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        _ = shop.spend(50, id: "s")
        let refund = shop.submit(transaction("1", signed: 1, revoked: 100_000), by: nil)
        let key = LotKey(purchase: transaction("1").key, asset: Shop.coins)
        #expect(shop.balance() == 0)
        #expect(shop.books.debts[key]?.open == 50)
        guard case .clawedBack(let fact) = refund.announcements.first?.body else {
            Issue.record("no fact")
            return
        }
        #expect(fact.taken.map(\.amount) == [10] && fact.owed.map(\.amount) == [50])
        _ = shop.submit(transaction("1", signed: 2), by: nil)
        #expect(shop.balance() == 10, "the reversal cancels the debt first and gives back what was taken")
        #expect(shop.books.debts[key]?.open == 0)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a refund that finds nothing left still writes a line of zero (B-119)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        _ = shop.spend(60, id: "s")
        _ = shop.submit(transaction("1", signed: 1, revoked: 100_000), by: nil)
        #expect(lines(shop).last == "OUT 0 APPLE_REFUND 1/1")
        #expect(shop.books.imbalances == [])
    }

    @Test func `own lot first, then the others of the same environment, oldest first, never across`() {
        var shop = Shop(audience: .everybody)
        _ = shop.submit(transaction("0", environment: .sandbox), by: Shop.alice)
        for id in 1...3 { _ = shop.submit(transaction("\(id)"), by: Shop.alice) }
        _ = shop.spend(130, id: "s")  // sandbox lot and lot 1 are gone, 10 of lot 2
        #expect(shop.balance() == 110)
        _ = shop.submit(transaction("1", signed: 1, revoked: 100_000), by: nil)
        func left(_ id: String) -> Int64? {
            shop.books.lots[LotKey(purchase: transaction(id).key, asset: Shop.coins)]?.remaining
        }
        #expect(left("2") == 0 && left("3") == 50)
        _ = shop.submit(transaction("0", environment: .sandbox, signed: 1, revoked: 100_000), by: nil)
        #expect(shop.balance() == 50, "a sandbox refund takes nothing from production lots")
        let sandbox = LotKey(purchase: transaction("0", environment: .sandbox).key, asset: Shop.coins)
        #expect(shop.books.debts[sandbox]?.open == 60)
        _ = shop.submit(transaction("1", signed: 2), by: nil)
        #expect(left("2") == 50 && left("3") == 60, "the lots that were drawn are filled again")
        #expect(shop.books.imbalances == [])
    }

    @Test func `a refund that comes first nets the later purchase (B-117 R07)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1", signed: 5, revoked: 40_000), by: nil)
        let decision = shop.submit(transaction("1"), by: Shop.alice)
        #expect(decision.answer?.status == .granted && decision.answer?.revokedShare == 40_000)
        #expect(decision.answer?.amounts.map(\.amount) == [60] && decision.answer?.balances.map(\.amount) == [36])
        #expect(lines(shop) == ["IN 60 APPLE_IAP 1/0", "OUT 24 APPLE_REFUND 1/1"])
        #expect(decision.announcements.count == 2)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a reversal after a tombstone delivers to the owner, whoever brings it`() {
        for bringer in [nil, Shop.alice, Shop.bob] {
            var shop = Shop()
            _ = shop.submit(transaction("1", revoked: 100_000), by: Shop.alice)
            _ = shop.submit(transaction("1", signed: 1), by: bringer)
            #expect(shop.balance() == 60 && shop.balance(Shop.bob) == 0)
        }
    }

    @Test(arguments: [(Int64(1), Int64(1), Int64(0)), (99_999, 3, 2), (100_000, .max, .max), (50_000, .max, .max / 2)])
    func `a share is rounded down to whole units and calculated in 128 bits`(
        share: Int64, amount: Int64, expected: Int64
    ) {
        #expect(Amounts.share(share, of: amount) == expected)
    }

    @Test func `a reversal that would overflow the account waits for the next statement`() {
        var shop = Shop()
        _ = shop.submit(transaction("1", Shop.huge), by: Shop.alice)
        _ = shop.submit(transaction("1", Shop.huge, signed: 1, revoked: 100_000), by: nil)
        for id in 2...3 { _ = shop.submit(transaction("\(id)", Shop.huge), by: Shop.alice) }
        _ = shop.submit(transaction("1", Shop.huge, signed: 2), by: nil)
        #expect(shop.balance() == Int64.max / 2 * 2)
        _ = shop.spend(Int64.max / 2, id: "s")
        _ = shop.submit(transaction("1", Shop.huge, signed: 2), by: nil)
        #expect(shop.balance() == Int64.max / 2 * 2)
        #expect(shop.books.imbalances == [])
    }

    @Test func `on a tie the larger share wins, then the larger payload hash, never the order of arrival`() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var shop = Shop()
            let ties = [
                transaction("1", hash: "ff"), transaction("1", revoked: 40_000, hash: "00"),
                transaction("1", revoked: 40_000, hash: "01"),
            ]
            for index in order { _ = shop.submit(ties[index], by: Shop.alice) }
            #expect(shop.balance() == 36)
            #expect(shop.books.purchases[ties[0].key]?.statement.payloadHash == "01")
        }
    }
}
