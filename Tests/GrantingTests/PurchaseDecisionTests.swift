import Messages
import Testing

@testable import Granting

@Suite struct PurchaseDecisionTests {
    @Test func `a purchase is granted to its caller with one ledger line and a lot (A-093 A-098 A-140)`() throws {
        var shop = Shop()
        let decision = shop.submit(transaction("1"), by: Shop.alice, cause: MessageID("m"))
        #expect(
            decision.answer
                == PurchaseAnswered(
                    status: .granted, mayFinish: true, transactionID: TransactionID("1"), productID: Shop.coins60,
                    amounts: [AssetAmount(asset: Shop.coins, amount: 60)],
                    balances: [AssetAmount(asset: Shop.coins, amount: 60)]))
        let line = try #require(shop.books.changes.ledger.first)
        #expect(line.source == .purchase && line.sourceID == "1/0" && line.balanceAfter == 60)
        #expect(line.remark == "Apple purchase: pyy_danbing_60")
        guard case .granted(let fact) = decision.announcements.first?.body else {
            Issue.record("no fact")
            return
        }
        #expect(fact.customer == Shop.alice && fact.isClaimedByCaller && fact.productVersion == 1)
        #expect(decision.announcements.map(\.key) == ["Production/1"])
        #expect(shop.books.imbalances == [])
    }

    @Test func `the message that granted is answered GRANTED again, another one ALREADY_GRANTED (A-094 A-095 A-141)`() {
        var shop = Shop()
        let first = shop.submit(transaction("1"), by: Shop.alice, cause: MessageID("m"))
        let redelivered = shop.submit(transaction("1"), by: Shop.alice, cause: MessageID("m"))
        #expect(redelivered.answer == first.answer)
        #expect(redelivered.announcements.isEmpty)
        for _ in 1...4 {
            let again = shop.submit(transaction("1"), by: Shop.alice)
            #expect(again.answer?.status == .alreadyGranted)
            #expect(again.answer?.balances == [AssetAmount(asset: Shop.coins, amount: 60)])
            #expect(again.answer?.mayFinish == true)
        }
        #expect(shop.balance() == 60)
        #expect(shop.books.changes.ledger.count == 1)
    }

    @Test func `another user learns nothing about the owner (A-090 A-130 S22 S50)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        let decision = shop.submit(transaction("1"), by: Shop.bob)
        #expect(
            decision.answer
                == PurchaseAnswered(
                    status: .refused, code: .transactionAlreadyBound, mayFinish: false, securityEvent: .bindingConflict)
        )
        #expect(shop.balance(Shop.bob) == 0)
    }

    @Test func `quantity multiplies (A-035 A-097)`() {
        var shop = Shop()
        let decision = shop.submit(transaction("1", quantity: 3), by: Shop.alice)
        #expect(decision.answer?.amounts == [AssetAmount(asset: Shop.coins, amount: 180)])
    }

    @Test(arguments: [Int64.max, Int64.max / 60 + 1, 0, -1])
    func `an amount that leaves 64 bits or a quantity below one is held, not trapped on (A-108 S11)`(quantity: Int64) {
        var shop = Shop()
        let decision = shop.submit(transaction("1", quantity: quantity), by: Shop.alice)
        #expect(decision.answer?.status == .held && decision.answer?.code == .underReview)
        #expect(shop.books.purchases[transaction("1").key]?.heldReason == .amountOverflow)
        #expect(shop.books.wallets.isEmpty)
    }

    @Test func `a balance that would overflow holds the purchase`() {
        var shop = Shop()
        for id in 1...3 { _ = shop.submit(transaction("\(id)", Shop.huge), by: Shop.alice) }
        #expect(shop.balance() == Int64.max / 2 * 2)
        #expect(shop.books.purchases[transaction("3").key]?.heldReason == .amountOverflow)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a product may grant several assets`() {
        var shop = Shop()
        let decision = shop.submit(transaction("1", Shop.bundle), by: Shop.alice)
        #expect(decision.answer?.amounts.map(\.amount) == [100, 30])
        #expect(shop.balance(Shop.alice, Shop.minutes) == 30)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a disabled product that was paid is delivered (A-083)`() {
        var shop = Shop()
        #expect(shop.submit(transaction("1", Shop.minutes60), by: Shop.alice).answer?.status == .granted)
    }

    @Test func `the catalogue version in force at the purchase date decides, else the earliest later one`() {
        var shop = Shop()
        let versions = [(1, Shop.day - 500, 60), (2, Shop.day + 500, 70)].map { version, from, amount in
            ProductVersion(
                version: Int64(version), effectiveFrom: from,
                product: Shop.product(Shop.coins60, [(Shop.coins, Int64(amount))]))
        }
        shop.books.catalogs[Shop.app] = Catalog(
            version: 2, definition: Shop.definition(), history: [Shop.coins60: versions])
        for (id, bought, amount) in [("1", Shop.day - 900, 60), ("2", Shop.day, 60), ("3", Shop.day + 900, 70)] {
            let decision = shop.submit(transaction(id, bought: bought), by: Shop.alice)
            #expect(decision.answer?.amounts.map(\.amount) == [Int64(amount)])
        }
    }

    @Test func `an unknown product is held for its owner and delivered once the catalogue knows it (A-083)`() {
        var shop = Shop(products: [])
        let held = shop.submit(transaction("1"), by: Shop.alice)
        #expect(held.answer?.status == .held && held.answer?.code == .unknownAppleProductID)
        #expect(held.answer?.mayFinish == false)
        #expect(held.announcements.count == 1)
        #expect(shop.submit(transaction("1"), by: Shop.alice).announcements.isEmpty, "the reason did not change")
        #expect(shop.submit(transaction("1"), by: Shop.bob).answer?.code == .transactionAlreadyBound)
        shop.setCatalog(version: 2, products: Shop.products)
        #expect(shop.submit(transaction("1"), by: Shop.alice).answer?.status == .granted)
        #expect(shop.books.purchases[transaction("1").key]?.heldReason == nil)
    }

    @Test(arguments: [
        (transaction("1", type: "Non-Consumable"), HeldReason.productTypeMismatch, AnswerCode.underReview, false),
        (transaction("1", ownership: "FAMILY_SHARED"), .familyShared, .familySharedNotGranted, true),
    ])
    func `what cannot be delivered is held with its own code (S26)`(
        purchase: VerifiedTransaction, reason: HeldReason, code: AnswerCode, mayFinish: Bool
    ) {
        var shop = Shop()
        let answer = shop.submit(purchase, by: Shop.alice).answer
        #expect(answer?.status == .held && answer?.code == code && answer?.mayFinish == mayFinish)
        #expect(shop.books.purchases[purchase.key]?.heldReason == reason)
        #expect(shop.books.purchases[purchase.key]?.owner == Shop.alice)
        #expect(shop.books.wallets.isEmpty)
    }

    @Test func `a product defined wrongly is delivered by the version that corrects it`() {
        var shop = Shop()
        let wrong = ProductVersion(
            version: 1, effectiveFrom: Shop.day - 9,
            product: Shop.product(Shop.coins60, [(Shop.coins, 60)], type: "Non-Consumable"))
        let right = ProductVersion(
            version: 2, effectiveFrom: Shop.day + 9, product: Shop.product(Shop.coins60, [(Shop.coins, 60)]))
        shop.books.catalogs[Shop.app] = Catalog(
            version: 2, definition: Shop.definition(), history: [Shop.coins60: [wrong, right]])
        #expect(shop.submit(transaction("1"), by: Shop.alice).answer?.status == .granted)
        #expect(shop.books.grants[transaction("1").key]?.productVersion == 2)
    }

    @Test(arguments: [
        (SandboxAudience.nobody, Shop.alice, false), (.listed, Shop.alice, true), (.listed, Shop.bob, false),
        (.everybody, Shop.bob, true),
    ])
    func `the sandbox policy decides by the owner's user (A-054 A-056 A-132 S20)`(
        audience: SandboxAudience, caller: CustomerID, isGranted: Bool
    ) {
        var shop = Shop(audience: audience)
        let decision = shop.submit(transaction("1", environment: .sandbox), by: caller)
        let purchase = shop.books.purchases[TransactionKey(environment: .sandbox, transactionID: TransactionID("1"))]
        if isGranted {
            #expect(decision.answer?.status == .granted)
        } else {
            #expect(decision.answer?.status == .held && decision.answer?.code == .sandboxNotAllowed)
            #expect(decision.answer?.securityEvent == .sandboxPurchase)
            #expect(purchase?.owner == nil && purchase?.submitter == caller && purchase?.heldReason == .sandboxPolicy)
        }
    }

    @Test func `the same transaction id in the other environment is another purchase`() {
        var shop = Shop(audience: .everybody)
        #expect(shop.submit(transaction("1"), by: Shop.alice).answer?.status == .granted)
        #expect(shop.submit(transaction("1", environment: .sandbox), by: Shop.alice).answer?.status == .granted)
        #expect(shop.balance() == 120)
    }

    @Test func `a non-consumable is delivered once, a restore answers ALREADY_GRANTED`() {
        var shop = Shop()
        let first = transaction("1", Shop.forever, type: "Non-Consumable")
        let restored = transaction("2", Shop.forever, original: "1", type: "Non-Consumable")
        #expect(shop.submit(first, by: Shop.alice).answer?.status == .granted)
        let answer = shop.submit(restored, by: Shop.alice).answer
        #expect(answer?.status == .alreadyGranted && answer?.transactionID == TransactionID("2"))
        #expect(answer?.amounts == [AssetAmount(asset: Shop.coins, amount: 500)])
        #expect(shop.balance() == 500)
        #expect(shop.books.grants.count == 1)
        let refunded = transaction(
            "2", Shop.forever, original: "1", type: "Non-Consumable", signed: 9, revoked: 100_000)
        _ = shop.submit(refunded, by: nil)
        #expect(shop.balance() == 0, "the newest statement over the whole chain counts")
        #expect(shop.submit(first, by: Shop.alice).answer?.code == .transactionAlreadyRevoked)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a purchase nobody handed in waits, claimable (C-063)`() {
        var shop = Shop()
        let fed = shop.submit(transaction("1"), by: nil)
        #expect(fed.answer == nil && fed.announcements.map(\.isNote) == [true])
        #expect(shop.submit(transaction("1"), by: Shop.bob).answer?.status == .granted)
    }

    @Test func `a revoked purchase is bound and refused, and may be finished (A-089 S24)`() {
        var shop = Shop()
        let answer = shop.submit(transaction("1", revoked: 100_000), by: Shop.alice).answer
        #expect(answer?.code == .transactionAlreadyRevoked && answer?.mayFinish == true)
        #expect(shop.submit(transaction("1", revoked: 100_000), by: Shop.bob).answer?.code == .transactionAlreadyBound)
        #expect(shop.books.grants.isEmpty)
    }
}
