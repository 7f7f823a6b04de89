import Messages
import Postgres
import Testing

@testable import Granting

/// The state machine of subscriptions, and what was bought once.
@Suite struct EntitlementTests {
    private static let hour: Int64 = 3_600_000
    /// Hours since the beginning.
    private static func at(_ hours: Int64) -> Int64 { Shop.day + hours * hour }

    /// A period of `gold` or `silver`, in hours.
    static func period(
        _ id: String, _ product: String = "gold", from start: Int64, to end: Int64, signed: Int64? = nil,
        revokedAt: Int64? = nil, isUpgraded: Bool = false, isShared: Bool = false
    ) -> EntitlingPurchase {
        var statement = transaction(
            id, ProductID(product), original: "100", type: "Auto-Renewable Subscription",
            ownership: isShared ? "FAMILY_SHARED" : "PURCHASED", bought: at(start))
        statement.expiresDate = at(end)
        statement.revocationDate = revokedAt.map { at($0) }
        statement.isUpgraded = isUpgraded ? true : nil
        return EntitlingPurchase(
            statement: statement, entitlement: product, days: nil, share: statement.revocationDate == nil ? 0 : 100_000)
    }

    /// What Apple says about the next renewal.
    static func renewal(
        on: Bool = true, intent: Int64? = nil, isRetrying: Bool? = nil, grace: Int64? = nil, next: String? = nil
    ) -> VerifiedRenewal {
        var renewal = VerifiedRenewal(
            environment: .production, originalTransactionID: TransactionID("100"), signedDate: Shop.day,
            payloadHash: "0")
        renewal.autoRenewStatus = on ? 1 : 0
        renewal.expirationIntent = intent
        renewal.isInBillingRetryPeriod = isRetrying
        renewal.gracePeriodExpiresDate = grace.map { at($0) }
        renewal.autoRenewProductID = next.map { ProductID($0) }
        return renewal
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var periods: [EntitlingPurchase]
        var renewal: VerifiedRenewal?
        /// Hour, and what holds of `gold` then.
        var expected: [(Int64, String)]
        var testDescription: String { name }
    }

    static let first = period("1", from: 0, to: 10)
    static let second = period("2", from: 10, to: 20)

    static let cases = [
        Case(
            name: "subscribed", periods: [first], renewal: renewal(),
            expected: [
                (0, "ACTIVE 10"), (9, "ACTIVE 10"), (10, "EXPIRED 10"),
            ]),
        Case(
            name: "without renewal info", periods: [first], renewal: nil,
            expected: [(9, "ACTIVE 10"), (10, "EXPIRED 10")]),
        Case(
            name: "renewed", periods: [second, first], renewal: renewal(),
            expected: [
                (9, "ACTIVE 20"), (10, "ACTIVE 20"), (19, "ACTIVE 20"), (20, "EXPIRED 20"),
            ]),
        Case(
            name: "renewal turned off", periods: [first], renewal: renewal(on: false, intent: 1),
            expected: [
                (9, "ACTIVE 10"), (10, "EXPIRED 10 1"),
            ]),
        Case(
            name: "billing failed, grace", periods: [first], renewal: renewal(isRetrying: true, grace: 16),
            expected: [
                (9, "ACTIVE 10"), (10, "GRACE_PERIOD 16"), (15, "GRACE_PERIOD 16"), (16, "BILLING_RETRY 10"),
            ]),
        Case(
            name: "billing failed, no grace", periods: [first], renewal: renewal(intent: 2, isRetrying: true),
            expected: [
                (9, "ACTIVE 10"), (10, "BILLING_RETRY 10 2"),
            ]),
        Case(
            name: "recovered in grace", periods: [first, second], renewal: renewal(grace: 16),
            expected: [
                (12, "ACTIVE 20"), (17, "ACTIVE 20"), (20, "EXPIRED 20"),
            ]),
        Case(
            name: "gave up collecting", periods: [first], renewal: renewal(on: false, intent: 2, isRetrying: false),
            expected: [
                (10, "EXPIRED 10 2")
            ]),
        Case(
            name: "no consent to a price", periods: [first], renewal: renewal(on: false, intent: 3),
            expected: [(10, "EXPIRED 10 3")]),
        Case(
            name: "product not for sale", periods: [first], renewal: renewal(intent: 4),
            expected: [(10, "EXPIRED 10 4")]),
        Case(
            name: "extended", periods: [period("1", from: 0, to: 14)], renewal: renewal(),
            expected: [
                (12, "ACTIVE 14"), (14, "EXPIRED 14"),
            ]),
        Case(
            name: "upgraded away",
            periods: [
                period("1", from: 0, to: 10, revokedAt: 4, isUpgraded: true), period("2", "platinum", from: 4, to: 14),
            ], renewal: renewal(next: "platinum"), expected: [(3, "ACTIVE 4"), (4, "EXPIRED 4"), (12, "EXPIRED 4")]),
        Case(
            name: "upgraded, the new period not yet told",
            periods: [
                period("1", from: 0, to: 10, revokedAt: 4, isUpgraded: true)
            ], renewal: renewal(), expected: [(9, "ACTIVE 10"), (10, "EXPIRED 10")]),
        Case(
            name: "upgraded to it",
            periods: [
                period("1", "silver", from: 0, to: 10, revokedAt: 4, isUpgraded: true), period("2", from: 4, to: 14),
            ], renewal: renewal(), expected: [(5, "ACTIVE 14"), (14, "EXPIRED 14")]),
        Case(
            name: "downgrade at the next renewal", periods: [first], renewal: renewal(next: "silver"),
            expected: [
                (9, "ACTIVE 10 renews as silver"), (10, "EXPIRED 10 renews as silver"),
            ]),
        Case(
            name: "refunded", periods: [period("1", from: 0, to: 10, revokedAt: 6)], renewal: renewal(on: false),
            expected: [
                (5, "ACTIVE 6"), (6, "REVOKED 6"), (11, "REVOKED 6"),
            ]),
        Case(
            name: "an old period refunded", periods: [period("1", from: 0, to: 10, revokedAt: 6), second],
            renewal: renewal(),
            expected: [
                (12, "ACTIVE 20")
            ]),
        Case(
            name: "the renewal refunded", periods: [first, period("2", from: 10, to: 20, revokedAt: 12)],
            renewal: renewal(),
            expected: [
                (11, "ACTIVE 12"), (12, "REVOKED 12"),
            ]),
        Case(
            name: "refunded, no grace for it", periods: [period("1", from: 0, to: 10, revokedAt: 6)],
            renewal: renewal(grace: 16),
            expected: [
                (7, "REVOKED 6")
            ]),
        Case(
            name: "family sharing ended", periods: [period("1", from: 0, to: 10, revokedAt: 3, isShared: true)],
            renewal: nil,
            expected: [
                (2, "ACTIVE 3"), (3, "REVOKED 3"),
            ]),
        Case(
            name: "subscribed again", periods: [first, period("3", from: 30, to: 40)], renewal: renewal(),
            expected: [
                (35, "ACTIVE 40"), (40, "EXPIRED 40"),
            ]),
    ]

    @Test(arguments: cases)
    func `a subscription gives access until the right instant, whatever Apple has told (C-082)`(test: Case) {
        let renewals = test.renewal.map { [$0] } ?? []
        for (hour, expected) in test.expected {
            for periods in permutations(test.periods) {
                let states = Entitlements.states(of: periods, renewals: renewals, at: Self.at(hour))
                let gold = states.first { $0.name == "gold" }
                var word = "\(gold?.status.rawValue ?? "-") \(((gold?.until ?? 0) - Shop.day) / Self.hour)"
                if let intent = gold?.expirationIntent { word += " \(intent)" }
                if gold?.renewsAs == ProductID("silver") { word += " renews as silver" }
                #expect(word == expected, "\(test.name) at \(hour)")
                #expect(gold?.isActive == (expected.hasPrefix("ACTIVE") || expected.hasPrefix("GRACE")))
            }
        }
    }

    private static func card(_ id: String, at hours: Int64, share: Int64 = 0, quantity: Int64 = 1) -> EntitlingPurchase
    {
        EntitlingPurchase(
            statement: transaction(
                id, Shop.card, type: "Non-Renewing Subscription", quantity: quantity, bought: at(hours)),
            entitlement: "vip", days: 1, share: share)
    }

    static let cards: [([EntitlingPurchase], Int64)] = [
        ([card("1", at: 0)], 24), ([card("1", at: 0), card("2", at: 6)], 48),
        ([card("1", at: 0), card("2", at: 30)], 54),
        ([card("1", at: 0, quantity: 3)], 72), ([card("1", at: 0, share: 100_000), card("2", at: 6)], 30),
        ([card("1", at: 0, share: 50_000)], 12), ([card("1", at: 0, share: 100_000)], 0),
    ]

    @Test(arguments: cards)
    func `times follow each other in the order of purchase, and a refund takes its part`(
        purchases: [EntitlingPurchase], hours: Int64
    ) {
        for order in permutations(purchases) {
            let before = Entitlements.states(of: order, renewals: [], at: Self.at(hours) - 1).first
            let after = Entitlements.states(of: order, renewals: [], at: Self.at(hours)).first
            #expect(before?.isActive == (hours > 0) && after?.isActive == false)
            #expect(after?.status == (hours > 0 ? .expired : .revoked))
        }
    }

    @Test func `what was bought for ever ends by its refund only, and environments stay apart`() {
        func owned(_ share: Int64, _ environment: StoreEnvironment = .production) -> EntitlingPurchase {
            EntitlingPurchase(
                statement: transaction("1", Shop.forever, environment: environment, type: "Non-Consumable"),
                entitlement: "vip", days: nil, share: share)
        }
        let kept = Entitlements.states(of: [owned(0), Self.card("2", at: 0)], renewals: [], at: .max)
        #expect(kept.map(\.isActive) == [true] && kept[0].until == nil)
        let refunded = Entitlements.states(of: [owned(100_000), owned(0, .sandbox)], renewals: [], at: Shop.day)
        #expect(refunded.map(\.isActive) == [false, true] && refunded.map(\.environment) == [.production, .sandbox])
    }

    @Test func `amounts and times of any size stay inside 64 bits`() {
        var purchase = Self.card("1", at: 0, quantity: .max)
        purchase.days = .max
        #expect(Entitlements.states(of: [purchase], renewals: [], at: Shop.day).first?.until == .max)
    }
}
