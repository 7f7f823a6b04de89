import Messages
import Pipeline
import Postgres
import Testing

@testable import Granting

@Suite struct SubscriptionTests {
    private static let monthly = ProductID("monthly")
    private static let products = [
        Shop.product(monthly, [(Shop.coins, 10)], type: "Auto-Renewable Subscription", entitlement: "gold"),
        Shop.product(Shop.forever, [(Shop.coins, 500)], type: "Non-Consumable", entitlement: "vip"),
        Shop.product(Shop.card, [], type: "Non-Renewing Subscription", entitlement: "vip"),
    ]

    private static func period(
        _ id: String, _ item: String?, token: String? = nil, original: String = "1", signed: Int64 = 0,
        revoked: Int64? = nil, ownership: String = "PURCHASED", bought: Int64 = Shop.day
    ) -> VerifiedTransaction {
        var statement = transaction(
            id, monthly, original: original, type: "Auto-Renewable Subscription", ownership: ownership, token: token,
            signed: signed, revoked: revoked, hash: "0\(signed)", bought: bought)
        statement.webOrderLineItemID = item
        statement.expiresDate = bought + 10_000
        return statement
    }

    @Test func `each period credits once, whichever transaction tells of it; renewals go to whoever has it`() {
        var shop = Shop(products: Self.products)
        _ = shop.submit(Self.period("1", "a"), by: Shop.alice)
        _ = shop.notify(.didRenew, Self.period("2", "b"))
        #expect(shop.balance() == 20)
        let again = shop.submit(Self.period("3", "b"), by: Shop.alice)
        #expect(again.answer?.status == .alreadyGranted && shop.balance() == 20)
        #expect(shop.submit(Self.period("4", "c"), by: Shop.bob).answer?.code == .transactionAlreadyBound)
        #expect(shop.submit(Self.period("3", "b"), by: Shop.alice).answer?.status == .alreadyGranted)
        #expect(shop.books.imbalances == [])
    }

    @Test func `SUBSCRIBED opens a subscription for its token's customer, every order of arrival alike`() {
        let events: [(AppleNotificationType, VerifiedTransaction)] = [
            (.subscribed, Self.period("1", "a", token: Shop.aliceToken)),
            (.didRenew, Self.period("2", "b", token: Shop.aliceToken)),
            (.refund, Self.period("2", "b", token: Shop.aliceToken, signed: 1, revoked: 100_000)),
            (.expired, Self.period("2", "b", token: Shop.aliceToken)),
        ]
        for order in permutations(events) {
            var shop = Shop(products: Self.products)
            _ = shop.order("A1", Self.monthly)
            for (type, statement) in order { _ = shop.notify(type, statement) }
            #expect(shop.balance() == 10 && shop.books.imbalances == [])
            #expect(shop.books.purchases.values.allSatisfy { $0.owner == Shop.alice })
        }
    }

    @Test func `an upgrade is no refund: what the period credited stays`() {
        var shop = Shop(products: Self.products)
        _ = shop.submit(Self.period("1", "a"), by: Shop.alice)
        var upgraded = Self.period("1", "a", signed: 1, revoked: 60_000)
        upgraded.isUpgraded = true
        _ = shop.notify(.didChangeRenewalPref, upgraded)
        #expect(shop.balance() == 10)
        _ = shop.notify(.refund, Self.period("1", "a", signed: 2, revoked: 100_000))
        #expect(shop.balance() == 0)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a family member gets the entitlement and no assets, until it ends`() {
        var shop = Shop(products: Self.products)
        let shared = Self.period("1", "a", ownership: "FAMILY_SHARED")
        let decision = shop.submit(shared, by: Shop.alice)
        #expect(decision.answer?.status == .granted && decision.answer?.amounts == [])
        #expect(shop.balance() == 0 && shop.books.lots.isEmpty)
        let ended = shop.notify(.revoke, Self.period("1", "a", signed: 1, revoked: 100_000, ownership: "FAMILY_SHARED"))
        #expect(ended.announcements.count == 1)
        #expect(shop.books.grants.values.first?.appliedShare == 100_000)
    }

    /// The month is over; grace lasts for ever, as the newest of two renewal infos in one batch says.
    private static func failuresToRenew() throws -> [Incoming] {
        var grace = EntitlementTests.renewal(isRetrying: true, grace: 900_000_000, next: "monthly")
        grace.originalTransactionID = TransactionID("1")
        grace.signedDate += 5
        var older = grace
        (older.gracePeriodExpiresDate, older.signedDate) = (nil, Shop.day)
        return try [grace, older].map { renewal in
            var body = notification(.didFailToRenew, period("1", "a"))
            body.renewal = renewal
            return try message(body)
        }
    }

    @Test func `of the renewal infos of one batch the newest is kept, wherever it stands, by its hash on a tie`() {
        func info(_ signed: Int64, _ hash: String, _ original: String = "1") -> Renewal {
            Renewal(
                info: VerifiedRenewal(
                    environment: .production, originalTransactionID: TransactionID(original), signedDate: signed,
                    payloadHash: hash), app: Shop.app)
        }
        for batch in permutations([info(1, "c"), info(2, "a"), info(2, "b")]) {
            let kept = Renewal.newest(batch + [info(0, "z", "0")])
            #expect(kept.map(\.info.payloadHash) == ["z", "b"])
        }
    }

    @Test func `entitlements are answered from what was delivered and what Apple says about renewal (C-082)`()
        async throws
    {
        let definition = Shop.definition(products: Self.products)
        try await GrantingDatabase.with("entitlements", definition) { granting in
            var session = try granting.open()
            func ask() throws -> [EntitlementState] {
                let question = EntitlementsRequested(app: Shop.app, userID: UserID("alice"))
                let outcomes = try session.run(AnswerQueries(), [try message(question)])
                return try outcomes[0].answer(EntitlementsAnswered.self)?.entitlements ?? []
            }
            #expect(try ask() == [])
            _ = try session.run(
                GrantPurchases(),
                [
                    try verified(Self.period("1", "a"), by: "alice"),
                    try verified(transaction("9", Shop.forever, type: "Non-Consumable"), by: "alice"),
                    try verified(transaction("10", Shop.forever, original: "9", type: "Non-Consumable"), by: "alice"),
                ])
            let batch = try Self.failuresToRenew()
            _ = try session.run(ApplyNotifications(), batch)
            let states = try ask()
            #expect(states.map(\.name) == ["gold", "vip"])
            #expect(states.map(\.status) == [.gracePeriod, .active] && states[0].willRenew == true)
            #expect(states[1].until == nil)
            // Older news change nothing, whenever they come.
            _ = try session.run(ApplyNotifications(), [batch[1]])
            #expect(try ask() == states)
            _ = try session.run(
                ApplyNotifications(),
                [
                    try notified(
                        .refund,
                        transaction(
                            "10", Shop.forever, original: "9", type: "Non-Consumable", signed: 1, revoked: 100_000)),
                    try notified(.didRenew, Self.period("2", "b", bought: 8_000_000_000_000)),
                ])
            #expect(try ask().map(\.status) == [.active, .revoked])
            #expect(try granting.rows("SELECT FROM granting.grants WHERE kind = 'period'").count == 2)
            #expect(try granting.imbalances() == [])
            let other = EntitlementsRequested(app: Shop.app, userID: UserID("bob"))
            let nothing = try session.run(AnswerQueries(), [try message(other)])
            #expect(try nothing[0].answer(EntitlementsAnswered.self)?.entitlements == [])
        }
    }
}
