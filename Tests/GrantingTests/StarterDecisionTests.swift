import Messages
import Testing

@testable import Granting

/// Starter offers and tokens of users, decided in memory.
@Suite struct StarterDecisionTests {
    static let pack = ProductID("new_user_pack")
    static let substitute = [AssetAmount(asset: Shop.coins, amount: 25)]

    static func products(substitute: [AssetAmount]? = nil) -> [CatalogProduct] {
        var starter = Shop.product(pack, [(Shop.coins, 60)])
        starter.starter = StarterOffer(offer: "new_user", substitute: substitute)
        return [starter, Shop.product(Shop.coins60, [(Shop.coins, 60)])]
    }

    static func identity(_ name: Character, key: String = "k1") -> IdentityHash {
        IdentityHash(keyID: key, hash: String(repeating: name, count: 64))
    }

    private static func buy(
        _ shop: inout Shop, _ id: String, by customer: CustomerID?, as names: [IdentityHash]? = [identity("a")],
        environment: StoreEnvironment = .production, quantity: Int64 = 1, expecting: PurchaseExpectation? = nil
    ) -> PurchaseDecision {
        shop.books.decide(
            Submission(
                cause: shop.message(), app: Shop.app, caller: customer, orderNumber: nil,
                transaction: transaction(id, pack, environment: environment, quantity: quantity),
                expectation: expecting, identities: names))
    }

    @Test func `a starter pack is granted once an identity, whoever's account it is (B-020 B-026 B-027 B-165)`() {
        var shop = Shop(products: Self.products())
        #expect(Self.buy(&shop, "1", by: Shop.alice).answer?.status == .granted)
        let again = Self.buy(&shop, "2", by: Shop.alice)
        #expect(again.answer?.code == .paymentStarterPackIneligible)
        #expect(again.answer?.mayFinish == true && again.answer?.status == .held)
        // The same address in another account, as after an erasure.
        #expect(Self.buy(&shop, "3", by: Shop.bob).answer?.code == .paymentStarterPackIneligible)
        #expect(shop.balance() == 60 && shop.balance(Shop.bob) == 0)
        #expect(shop.books.purchases[transaction("3", Self.pack).key]?.heldReason == .ineligible)
        // Bob is known by both addresses now.
        #expect(Self.buy(&shop, "4", by: Shop.bob, as: [Self.identity("b")]).answer?.code != nil)
    }

    @Test func `whoever has had the pack under one address has had it under all of theirs`() {
        var shop = Shop(products: Self.products())
        #expect(Self.buy(&shop, "1", by: Shop.alice).answer?.status == .granted)
        #expect(Self.buy(&shop, "2", by: Shop.alice, as: [Self.identity("c")]).answer?.status == .held)
        #expect(Self.buy(&shop, "3", by: Shop.bob, as: [Self.identity("d")]).answer?.status == .granted)
    }

    @Test func `the answer to the message that granted it stays the same, and a repetition is no second pack (B-080)`()
    {
        var shop = Shop(products: Self.products())
        _ = Self.buy(&shop, "1", by: Shop.alice)
        #expect(Self.buy(&shop, "1", by: Shop.alice).answer?.status == .alreadyGranted)
        #expect(shop.balance() == 60)
    }

    @Test func `paid but not eligible: the configured substitute is granted (B-087)`() {
        var shop = Shop(products: Self.products(substitute: Self.substitute))
        _ = Self.buy(&shop, "1", by: Shop.alice)
        let second = Self.buy(&shop, "2", by: Shop.alice)
        #expect(second.answer?.status == .granted && second.answer?.amounts == Self.substitute)
        #expect(shop.balance() == 85)
        // One unit is the pack, the other two are more than anybody is offered.
        let three = Self.buy(&shop, "3", by: Shop.bob, as: [Self.identity("b")], quantity: 3)
        #expect(three.answer?.amounts == [AssetAmount(asset: Shop.coins, amount: 110)])
        #expect(shop.books.imbalances == [])
    }

    @Test func `more than one at once without a substitute is held, and nothing is used up (B-045)`() {
        var shop = Shop(products: Self.products())
        #expect(Self.buy(&shop, "1", by: Shop.alice, quantity: 2).answer?.code == .paymentStarterPackIneligible)
        #expect(Self.buy(&shop, "2", by: Shop.alice).answer?.status == .granted)
    }

    @Test func `a sandbox purchase uses up nothing in production`() {
        var shop = Shop(products: Self.products())
        #expect(Self.buy(&shop, "1", by: Shop.alice, environment: .sandbox).answer?.status == .granted)
        #expect(Self.buy(&shop, "1", by: Shop.alice).answer?.status == .granted)
        #expect(Self.buy(&shop, "2", by: Shop.alice, environment: .sandbox).answer?.status == .held)
    }

    @Test func `without a known identity it waits for the client`() {
        var shop = Shop(products: Self.products())
        #expect(Self.buy(&shop, "1", by: Shop.alice, as: nil).answer?.code == .purchasePending)
        #expect(shop.books.purchases[transaction("1", Self.pack).key]?.heldReason == .identityUnknown)
        #expect(Self.buy(&shop, "1", by: Shop.alice).answer?.status == .granted)
    }

    @Test func `a refund gives no second pack (B-126)`() {
        var shop = Shop(products: Self.products())
        _ = Self.buy(&shop, "1", by: Shop.alice)
        _ = shop.notify(.refund, transaction("1", Self.pack, signed: 1, revoked: 100_000, hash: "01"))
        #expect(shop.balance() == 0)
        #expect(Self.buy(&shop, "2", by: Shop.alice).answer?.code == .paymentStarterPackIneligible)
    }

    private static func token(
        _ shop: inout Shop, _ text: String, for customer: CustomerID = Shop.alice, _ names: [IdentityHash]? = nil
    ) -> TokenDecision {
        shop.books.decide(
            TokenCase(
                customer: customer,
                request: TokenRequested(
                    app: Shop.app, userID: UserID("ignored"), appAccountToken: text, identities: names)))
    }

    @Test func `a user has one token, stored once and told each time (B-076)`() {
        var shop = Shop(products: Self.products())
        let first = Self.token(&shop, Shop.aliceToken)
        #expect(first.answer.appAccountToken == Shop.aliceToken && first.announcements.count == 1)
        let second = Self.token(&shop, Shop.bobToken)
        #expect(second.answer.appAccountToken == Shop.aliceToken && second.announcements.isEmpty)
        #expect(shop.books.changes.userTokens.count == 1)
        // A token that is somebody's already cannot be drawn again.
        #expect(Self.token(&shop, Shop.aliceToken, for: Shop.bob).answer.appAccountToken == nil)
        #expect(Self.token(&shop, Shop.bobToken, for: Shop.bob).answer.appAccountToken == Shop.bobToken)
        #expect(shop.submit(transaction("1", token: Shop.aliceToken), by: Shop.bob).answer?.code != nil)
        #expect(shop.submit(transaction("1", token: Shop.aliceToken), by: Shop.alice).answer?.status == .granted)
    }

    @Test func `the token's answer names offers that are used up, under every retained key from then on (B-025)`() {
        var shop = Shop(products: Self.products())
        #expect(Self.token(&shop, Shop.aliceToken, [Self.identity("a")]).answer.usedOffers == [])
        _ = Self.buy(&shop, "1", by: Shop.alice)
        let both = [Self.identity("a"), Self.identity("9", key: "k2")]
        #expect(Self.token(&shop, Shop.aliceToken, both).answer.usedOffers == ["new_user"])
        // Later the first key is retired, and the same person comes with another account.
        let later = Self.token(&shop, Shop.bobToken, for: Shop.bob, [Self.identity("9", key: "k2")])
        #expect(later.answer.usedOffers == ["new_user"])
    }

    @Test func `hashes that no gateway makes are not kept`() {
        var shop = Shop(products: Self.products())
        let odd = [
            IdentityHash(keyID: "", hash: String(repeating: "a", count: 64)), IdentityHash(keyID: "k", hash: "short"),
            IdentityHash(keyID: "k", hash: String(repeating: "G", count: 64)),
        ]
        _ = Self.token(&shop, Shop.aliceToken, odd)
        #expect(shop.books.changes.identities.isEmpty)
    }

    static let contradictions: [(PurchaseExpectation, AnswerCode?)] = [
        (PurchaseExpectation(productCode: "NEW_USER_PACK", productID: pack, transactionID: .init("1")), nil),
        (
            PurchaseExpectation(productCode: "NEW_USER_PACK", productID: pack, transactionID: .init("2")),
            .paymentTransactionInvalid
        ),
        (
            PurchaseExpectation(productCode: "NEW_USER_PACK", productID: Shop.coins60, transactionID: .init("1")),
            .paymentProductMismatch
        ),
        (
            PurchaseExpectation(productCode: "PYY_DANBING_60", productID: pack, transactionID: .init("1")),
            .paymentProductMismatch
        ),
        (PurchaseExpectation(productCode: "NOBODYS", productID: nil, transactionID: nil), .unknownAppleProductID),
        (
            PurchaseExpectation(
                productCode: nil, productID: nil, transactionID: nil, appAccountToken: Shop.bobToken),
            .appAccountTokenMismatch
        ),
        (
            PurchaseExpectation(
                productCode: nil, productID: nil, transactionID: nil, appAccountToken: Shop.aliceToken), nil
        ),
    ]

    @Test(arguments: contradictions)
    func `what the client says is compared with what Apple signed (B-072 B-073 B-074 B-076 B-160 B-161)`(
        _ said: PurchaseExpectation, _ code: AnswerCode?
    ) {
        var shop = Shop(products: Self.products())
        _ = Self.token(&shop, Shop.aliceToken)
        _ = Self.token(&shop, Shop.bobToken, for: Shop.bob)
        let answer = Self.buy(&shop, "1", by: Shop.alice, expecting: said).answer
        #expect(answer?.code == code)
        #expect(shop.balance() == (code == nil ? 60 : 0))
        if code == .appAccountTokenMismatch { #expect(answer?.securityEvent == .foreignToken) }
        // It stays claimable, and what is granted already is compared too.
        #expect(Self.buy(&shop, "1", by: Shop.alice).answer?.code == nil)
        #expect(Self.buy(&shop, "1", by: Shop.alice, expecting: said).answer?.code == code)
    }
}
