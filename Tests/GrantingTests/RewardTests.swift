import Messages
import Testing

@testable import Granting

/// The app's own numbers for what products give.
@Suite struct RewardTests {
    private static func products(reward: Int64?) -> [CatalogProduct] {
        var product = Shop.product(Shop.coins60, [(Shop.coins, 60)])
        product.rewardID = reward
        return [product]
    }

    @Test func `a delivery tells the reward of the version that decided it, also when asked again (C-005 C-062)`()
        async throws
    {
        try await GrantingDatabase.with("reward", Shop.definition(products: Self.products(reward: 2_001))) { granting in
            var session = try granting.open()
            let first = try verified(transaction("1"), by: "alice")
            let granted = try session.run(GrantPurchases(), [first])[0]
            #expect(try granted.answer(PurchaseAnswered.self)?.rewardID == 2_001)
            let change = Shop.definition(products: Self.products(reward: 2_002))
            _ = try session.run(RunCommands(), [try granting.importing(change, version: 1)])
            let again = try session.run(
                GrantPurchases(),
                [
                    try verified(transaction("1"), by: "alice"),
                    try verified(transaction("2", bought: 2 * Shop.day), by: "alice"),
                    try verified(transaction("1"), by: "bob"),
                ])
            let rewards = try again.map { try $0.answer(PurchaseAnswered.self)?.rewardID }
            #expect(rewards == [2_001, 2_002, nil], "nobody else learns what was bought")
        }
    }

    @Test func `what was taken back is answered without its reward`() {
        var shop = Shop(products: Self.products(reward: 2_001))
        #expect(shop.submit(transaction("1"), by: Shop.alice).answer?.rewardID == 2_001)
        let refunded = shop.submit(transaction("1", signed: 5, revoked: 100_000), by: Shop.alice).answer
        #expect(refunded?.code == .transactionAlreadyRevoked && refunded?.rewardID == nil)
    }

    @Test func `a product without a number has none, and one below 1 is refused`() {
        var shop = Shop(products: Self.products(reward: nil))
        #expect(shop.submit(transaction("1"), by: Shop.alice).answer?.rewardID == nil)
        let request = CatalogImportRequested(
            app: Shop.app, actor: "op", expectedVersion: 0,
            definition: Shop.definition(products: Self.products(reward: 0)))
        guard case .refused(let problems) = CatalogImport.decide(request, on: .none) else {
            Issue.record("accepted")
            return
        }
        #expect(problems == ["product pyy_danbing_60: rewardID must be at least 1, not 0"])
    }
}
