import Messages
import Testing

@testable import Control

@Suite struct CatalogDifferenceTests {
    private func product(_ id: String, amount: Int64 = 60, isEnabled: Bool = true) -> CatalogProduct {
        CatalogProduct(
            code: id.uppercased(), productID: .init(id), productType: "Consumable",
            amounts: [AssetAmount(asset: .init("COINS"), amount: amount)], isEnabled: isEnabled, sort: 1)
    }

    private func catalog(_ products: [CatalogProduct], testers: [String] = [], audience: SandboxAudience = .listed)
        -> CatalogDefinition
    {
        CatalogDefinition(
            assets: [CatalogAsset(asset: .init("COINS"), jsonName: "coins", insufficientCode: .balanceNotEnough)],
            products: products,
            policies: CatalogPolicies(
                sandboxAudience: audience, reviewers: [], testers: testers.map { UserID($0) },
                requiresAppAccountToken: false, orderExpiryHours: 24))
    }

    @Test func `the same catalogue in another order is no difference`() {
        let old = catalog([product("a"), product("b")])
        #expect(CatalogDifference.lines(from: old, to: catalog([product("b"), product("a")])).isEmpty)
    }

    @Test func `every change is a line that names old and new`() {
        let lines = CatalogDifference.lines(
            from: catalog([product("a"), product("gone")], testers: ["t1"]),
            to: catalog([product("a", amount: 65), product("new")], testers: ["t2"], audience: .everybody))
        #expect(
            lines == [
                "~ product a: A, Consumable, 60 COINS, on sale, sort 1 -> A, Consumable, 65 COINS, on sale, sort 1",
                "+ product new: NEW, Consumable, 60 COINS, on sale, sort 1",
                "- product gone: not in the file, will be disabled",
                "~ policy sandbox: listed -> everybody", "+ tester t2", "- tester t1",
            ])
    }

    @Test func `debts and limits on refunds are told in words`() {
        var new = catalog([product("a")])
        new.policies.debtRepaymentShare = 50_000
        new.policies.risk = RiskPolicy(
            review: RiskLimit(refunds: 3, amounts: [MoneyAmount(currency: "CNY", milliunits: 5_000)]))
        #expect(
            CatalogDifference.lines(from: catalog([product("a")]), to: new) == [
                "~ policy debts: keep -> repay 50000 milliunits of a per cent of each grant",
                "~ policy risk.review: never -> from 3 refunds or from 5000 milliunits of CNY",
            ])
    }

    @Test func `cards and rewards are told in words`() {
        var card = product("a")
        (card.amounts, card.entitlement, card.entitlementDays, card.rewardID) = ([], "month", 30, 3_001)
        #expect(
            CatalogDifference.lines(from: catalog([]), to: catalog([card])) == [
                "+ product a: A, Consumable, no amounts, entitlement month for 30 days, reward 3001, on sale, sort 1"
            ])
    }

    @Test func `a product that was disabled before and is not in the file is no change`() {
        let old = catalog([product("a"), product("gone", isEnabled: false)])
        #expect(CatalogDifference.lines(from: old, to: catalog([product("a")])).isEmpty)
    }

    @Test func `the first catalogue is all new`() {
        let lines = CatalogDifference.lines(from: nil, to: catalog([product("a")], testers: ["t"]))
        #expect(lines.count == 11 && lines.first == "+ asset COINS: json coins, BALANCE_NOT_ENOUGH")
    }
}
