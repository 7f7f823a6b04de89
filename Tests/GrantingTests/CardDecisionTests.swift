import Messages
import Testing

@testable import Granting

/// Cards: for a while, for ever, bought again, refunded, restored.
@Suite struct CardDecisionTests {
    static let month = ProductID("month_card")
    static let renewing = ProductID("season_card")
    static let permanent = ProductID("permanent_card")
    static let lifetime = ProductID("lifetime_offer")
    private static let day = Entitlements.day

    /// A month card of Apple's two kinds, two ways to the same thing for ever, and an asset beside each.
    static let products: [CatalogProduct] = [
        card(month, "Consumable", "month", days: 30), card(renewing, "Non-Renewing Subscription", "month", days: 30),
        card(permanent, "Non-Consumable", "forever", days: nil), card(lifetime, "Consumable", "forever", days: nil),
        Shop.product(Shop.coins60, [(Shop.coins, 60)]),
    ]

    static func card(_ id: ProductID, _ type: String, _ entitlement: String, days: Int64?) -> CatalogProduct {
        var product = Shop.product(id, [(Shop.coins, 7)], type: type, entitlement: entitlement)
        (product.entitlementDays, product.rewardID) = (days, 3_001)
        return product
    }

    private static func bought(
        _ id: String, _ product: ProductID = lifetime, day: Int64 = 0, signed: Int64 = 0, revoked: Int64? = nil,
        quantity: Int64 = 1, original: String? = nil, environment: StoreEnvironment = .production,
        ownership: String = "PURCHASED"
    ) -> VerifiedTransaction {
        transaction(
            id, product, environment: environment, original: original,
            type: products.first { $0.productID == product }?.productType ?? "", ownership: ownership,
            quantity: quantity, signed: signed, revoked: revoked, bought: Shop.day + day * Self.day)
    }

    private static func shop() -> Shop { Shop(audience: .everybody, products: products) }

    /// When Alice's card ends, in days since the beginning; nil: it is none, or for ever.
    private static func end(_ answer: PurchaseAnswered?) -> Int64? {
        answer?.entitlement?.until.map { ($0 - Shop.day) / day }
    }

    /// Purchases of a month card (day, quantity, refunded share), and when they end together.
    static let months: [([(day: Int64, quantity: Int64, share: Int64?)], Int64)] = [
        ([(0, 1, nil)], 30), ([(0, 1, nil), (10, 1, nil)], 60), ([(0, 1, nil), (30, 1, nil)], 60),
        ([(0, 1, nil), (40, 1, nil)], 70), ([(0, 3, nil)], 90), ([(0, 1, nil), (10, 2, nil), (200, 1, nil)], 230),
        ([(0, 1, 100_000), (10, 1, nil)], 40), ([(0, 1, nil), (10, 1, 100_000)], 30),
        ([(0, 1, 50_000), (10, 1, nil)], 45), ([(0, 1, nil), (10, 1, nil), (20, 1, 100_000)], 60),
    ]

    @Test(arguments: months)
    func `a card runs on from its end or its purchase, a refund shortens it, in any order (C-014 C-017)`(
        purchases: [(day: Int64, quantity: Int64, share: Int64?)], end: Int64
    ) {
        var events: [VerifiedTransaction] = []
        for (place, one) in purchases.enumerated() {
            let product = place.isMultiple(of: 2) ? Self.month : Self.renewing
            events.append(Self.bought("\(place)", product, day: one.day, quantity: one.quantity))
            guard let share = one.share else { continue }
            events.append(
                Self.bought(
                    "\(place)", product, day: one.day, signed: 5, revoked: share, quantity: one.quantity))
        }
        for order in permutations(events) {
            var shop = Self.shop()
            var last: PurchaseAnswered?
            for event in order { last = shop.submit(event, by: Shop.alice).answer ?? last }
            // Whoever asks again is told how the card stands by now.
            for event in order {
                let answer = shop.submit(event, by: Shop.alice).answer
                if answer?.status == .alreadyGranted { last = answer }
            }
            #expect(Self.end(last) == end, "\(order.map { "\($0.transactionID) \($0.revokedShare)" })")
            #expect(shop.books.imbalances == [])
        }
    }

    /// The second purchase of somebody who has something for ever, and whether it waits.
    static let seconds: [(first: VerifiedTransaction, second: VerifiedTransaction, waits: Bool)] = [
        (bought("1"), bought("2"), true), (bought("1", permanent), bought("2", permanent), true),
        (bought("1", permanent), bought("2", lifetime), true), (bought("1", lifetime), bought("2", permanent), true),
        (bought("1"), bought("2", environment: .sandbox), false), (bought("1"), bought("2", month), false),
        (bought("1", month), bought("2"), false), (bought("1", revoked: 40_000), bought("2"), true),
        (bought("1", revoked: 100_000), bought("2"), false),
        (bought("1", permanent, ownership: "FAMILY_SHARED"), bought("2", permanent), false),
        (bought("1", permanent), bought("2", permanent, ownership: "FAMILY_SHARED"), false),
    ]

    @Test(arguments: seconds)
    func `what is owned for ever and paid again waits for support, and may be finished (C-014 C-015 C-016)`(
        first: VerifiedTransaction, second: VerifiedTransaction, waits: Bool
    ) {
        var shop = Self.shop()
        _ = shop.submit(first, by: Shop.alice)
        for _ in 1...2 {
            let decision = shop.submit(second, by: Shop.alice)
            guard waits else {
                #expect(decision.answer?.mayFinish == true && decision.answer?.code == nil)
                continue
            }
            #expect(decision.answer?.status == .held && decision.answer?.code == .alreadyOwned)
            #expect(decision.answer?.mayFinish == true && decision.answer?.reason == "owned_permanently")
        }
        #expect(shop.books.purchases[second.key]?.heldReason == (waits ? .ownedPermanently : nil))
        #expect(shop.books.grants[second.key] == nil || !waits)
        #expect(shop.submit(Self.bought("3"), by: Shop.bob).answer?.status == .granted, "others may buy it")
    }

    @Test func `a held card is delivered as soon as the first is refunded in full, the first bought first`() {
        var shop = Self.shop()
        let statements = [Self.bought("1"), Self.bought("3", day: 2), Self.bought("2", day: 1)]
        for statement in statements { _ = shop.submit(statement, by: Shop.alice) }
        let partly = shop.notify(.refund, Self.bought("1", signed: 5, revoked: 50_000))
        #expect(!partly.announcements.contains { $0.isGranted })
        let refund = shop.notify(.refund, Self.bought("1", signed: 6, revoked: 100_000))
        #expect(refund.announcements.filter(\.isGranted).map(\.key) == ["Production/2"])
        #expect(shop.books.purchases[statements[1].key]?.heldReason == .ownedPermanently)
        let answer = shop.submit(statements[2], by: Shop.alice).answer
        #expect(answer?.status == .alreadyGranted && answer?.entitlement?.isActive == true)
        #expect(answer?.entitlement?.until == nil && answer?.rewardID == 3_001)
        #expect(shop.balance() == 7)
        _ = shop.notify(.refund, Self.bought("2", day: 1, signed: 6, revoked: 100_000))
        #expect(shop.books.grants[statements[1].key] != nil && shop.balance() == 7)
        #expect(shop.books.imbalances == [])
    }

    @Test func `purchases and refunds of a card for ever end in one card and one balance, in any order (R07)`() {
        let events = [
            Self.bought("1"), Self.bought("2"), Self.bought("1", signed: 5, revoked: 100_000), Self.bought("3"),
        ]
        for order in permutations(events) {
            var shop = Self.shop()
            for event in order { _ = shop.submit(event, by: Shop.alice) }
            let own = shop.books.grants.values.filter { $0.appliedShare == 0 }
            #expect(own.count == 1 && shop.balance() == 7, "\(order.map { "\($0.transactionID) \($0.revokedShare)" })")
            #expect(own.first.flatMap { shop.books.entitlement(boughtBy: $0) }?.isActive == true)
            #expect(shop.books.imbalances == [])
        }
    }

    @Test func `a reversed refund gives the first one back, and what was delivered meanwhile stays`() {
        var shop = Self.shop()
        _ = shop.submit(Self.bought("1"), by: Shop.alice)
        _ = shop.submit(Self.bought("2"), by: Shop.alice)
        _ = shop.notify(.refund, Self.bought("1", signed: 5, revoked: 100_000))
        _ = shop.notify(.refundReversed, Self.bought("1", signed: 9))
        #expect(shop.balance() == 14 && shop.books.grants.count == 2)
        #expect(shop.submit(Self.bought("3"), by: Shop.alice).answer?.code == .alreadyOwned)
    }

    @Test func `a card for ever that is restored on another device is answered as delivered, once (C-018)`() {
        var shop = Self.shop()
        _ = shop.submit(Self.bought("1", Self.permanent), by: Shop.alice)
        let restored = Self.bought("9", Self.permanent, day: 40, signed: 9, original: "1")
        let answer = shop.submit(restored, by: Shop.alice).answer
        #expect(answer?.status == .alreadyGranted && answer?.mayFinish == true && answer?.code == nil)
        #expect(answer?.entitlement?.isActive == true && answer?.entitlement?.until == nil)
        #expect(shop.books.grants.count == 1 && shop.balance() == 7)
        let other = shop.submit(Self.bought("1", Self.permanent), by: Shop.bob).answer
        #expect(other?.code == .transactionAlreadyBound && other?.entitlement == nil, "nothing is told to others")
    }

    @Test func `later versions of the catalogue make no second card out of one that waits`() {
        var shop = Self.shop()
        _ = shop.submit(Self.bought("1"), by: Shop.alice)
        var later = Self.card(Self.lifetime, "Consumable", "forever", days: 30)
        later.amounts = []
        let versions = [
            ProductVersion(version: 1, effectiveFrom: Shop.day - 1_000, product: Self.products[3]),
            ProductVersion(version: 2, effectiveFrom: Shop.day + 1, product: later),
        ]
        shop.books.catalogs[Shop.app] = Catalog(
            version: 2, definition: Shop.definition(audience: .everybody, products: [later]),
            history: [Self.lifetime: versions])
        #expect(shop.submit(Self.bought("2"), by: Shop.alice).answer?.code == .alreadyOwned)
        let bought = shop.submit(Self.bought("3", day: 1), by: Shop.alice).answer
        #expect(bought?.status == .granted, "by then it was sold for a while")
    }
}

extension Announcement {
    /// Whether it tells of a delivery.
    fileprivate var isGranted: Bool { if case .granted = body { true } else { false } }
}
