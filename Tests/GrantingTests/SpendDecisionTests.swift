import Messages
import Testing

@testable import Granting

@Suite struct SpendDecisionTests {
    private func rich() -> Shop {
        var shop = Shop(audience: .everybody)
        _ = shop.submit(transaction("1", environment: .sandbox), by: Shop.alice)
        _ = shop.submit(transaction("2"), by: Shop.alice)
        return shop
    }

    @Test func `a spend draws on the oldest lots first, production and sandbox alike (A-137 A-138)`() {
        var shop = rich()
        let decision = shop.spend(70, id: "s")
        #expect(
            decision.answer
                == SpendAnswered(outcome: .spent, code: nil, asset: Shop.coins, amount: 70, balanceAfter: 50))
        #expect(shop.books.changes.draws.map(\.amount) == [60, 10])
        #expect(shop.books.changes.ledger.last?.source == .usage && shop.books.changes.ledger.last?.sourceID == "s")
        #expect(shop.books.changes.ledger.last?.environment == nil)
        #expect(decision.announcements.map(\.key) == ["\(Shop.alice)/s"])
        #expect(shop.books.imbalances == [])
    }

    @Test func `the same id gets the same answer for ever, also a refusal (A-139)`() {
        var shop = rich()
        let spent = shop.spend(70, id: "s")
        let refused = shop.spend(1_000, id: "t")
        _ = shop.submit(transaction("3", quantity: 90), by: Shop.alice)
        #expect(shop.spend(70, id: "s").answer == spent.answer)
        #expect(shop.spend(1_000, id: "t").answer == refused.answer)
        #expect(shop.spend(70, id: "s").announcements.isEmpty)
        #expect(shop.balance() == 50 + 90 * 60)
    }

    @Test func `the same id with another asset or amount is a conflict and changes nothing`() {
        var shop = rich()
        _ = shop.spend(70, id: "s")
        for decision in [shop.spend(71, id: "s"), shop.spend(70, Shop.minutes, id: "s")] {
            #expect(decision.answer.code == .spendConflict && decision.answer.outcome == nil)
            #expect(decision.announcements.isEmpty)
        }
        #expect(shop.balance() == 50)
    }

    @Test func `ids of different customers do not meet`() {
        var shop = rich()
        _ = shop.submit(transaction("3"), by: Shop.bob)
        #expect(shop.spend(10, id: "s").answer.outcome == .spent)
        #expect(shop.spend(20, id: "s", by: Shop.bob).answer.outcome == .spent)
    }

    @Test func `too little is refused with the asset's own code (A-091)`() {
        var shop = rich()
        #expect(shop.spend(1, Shop.minutes, id: "m").answer.code == .timeNotEnough)
        let decision = shop.spend(121, id: "s")
        #expect(decision.answer.outcome == .notEnough && decision.answer.code == .balanceNotEnough)
        #expect(decision.answer.balanceAfter == 120)
        #expect(shop.balance() == 120)
    }

    @Test func `an unknown asset and a passed deadline are refused, stored and final`() {
        var shop = rich()
        #expect(shop.spend(1, AssetID("GOLD"), id: "a").answer.code == .unknownAsset)
        let late = shop.spend(1, id: "b", deadline: Shop.day - 1)
        #expect(late.answer.outcome == .deadlinePassed && late.answer.code == .spendDeadlinePassed)
        #expect(shop.spend(1, id: "b").answer == late.answer)
        #expect(shop.spend(1, id: "c", deadline: Shop.day).answer.outcome == .spent, "the last instant counts")
        #expect(shop.books.changes.spends.count == 3)
    }
}
