import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// What Apple may be told about a purchase, from the books.
@Suite(.timeLimit(.minutes(2))) struct ConsumptionAssessmentTests {
    /// The policy of most cases.
    private static let policy = ConsumptionPolicy(preference: .grantProrated, isSampleProvided: true)

    /// A delivered purchase of 60 coins of a customer who consented; `change` makes another case of it.
    private static func assess(_ change: (inout ConsumptionAssessment.Facts) -> Void) -> ConsumptionAssessed {
        var facts = ConsumptionAssessment.Facts()
        facts.policy = policy
        facts.now = Shop.day
        facts.purchase = Purchase(statement: transaction("1", token: Shop.aliceToken), app: Shop.app)
        facts.customer = Shop.alice
        facts.hasConsented = true
        facts.isDelivered = true
        facts.lots = [(60, 0)]
        change(&facts)
        return ConsumptionAssessment(
            facts,
            of: ConsumptionAssessmentRequested(
                app: Shop.app, environment: .production, transactionID: TransactionID("1"))
        ).answer
    }

    /// Lots, what of them was spent, and the share in milliunits.
    private static let shares: [(lots: [(amount: Int64, spent: Int64)], share: Int64)] = [
        ([(60, 0)], 0), ([(60, 1)], 1_666), ([(60, 20)], 33_333), ([(60, 30)], 50_000), ([(60, 59)], 98_333),
        ([(60, 60)], 100_000), ([(2, 1)], 50_000), ([(3, 2)], 66_666), ([(100_000, 99_999)], 99_999),
        ([(1_000_000_000, 1)], 0), ([(Int64.max, Int64.max)], 100_000), ([(Int64.max, Int64.max - 1)], 99_999),
        ([(Int64.max, Int64.max / 2)], 49_999),
        // Several assets: the mean of their shares.
        ([(100, 100), (30, 0)], 50_000), ([(100, 50), (30, 15)], 50_000), ([(3, 1), (3, 1)], 33_333),
        ([(3, 1), (3, 2)], 50_000), ([(100, 100), (30, 30)], 100_000), ([(100, 100), (30, 29)], 98_333),
        ([(7, 1), (11, 1), (13, 1)], 10_356),
    ]

    @Test(arguments: shares.indices) func `the consumed share is exact, in milliunits, rounded down (A-116)`(place: Int)
    {
        let (lots, share) = Self.shares[place]
        #expect(Self.assess { $0.lots = lots }.consumedShare == share)
    }

    @Test
    func `a product without assets has no measured use, a subscription's is not told, an undelivered one has none`() {
        #expect(Self.assess { $0.lots = [] }.consumedShare == nil)
        let subscription = transaction("1", type: "Auto-Renewable Subscription")
        #expect(
            Self.assess { $0.purchase = Purchase(statement: subscription, app: Shop.app) }.consumedShare == nil)
        let undelivered = Self.assess {
            $0.isDelivered = false
            $0.lots = []
        }
        #expect(undelivered.consumedShare == 0 && !undelivered.isDelivered)
    }

    /// What is preferred: the policy, the spent coins of 60, whether it was delivered, whether there were many refunds.
    private static let preferences:
        [(wanted: RefundPreference?, spent: Int64, isDelivered: Bool, isReviewed: Bool, told: RefundPreference?)] = [
            (nil, 30, true, false, nil), (nil, 30, true, true, nil), (nil, 0, false, false, nil),
            (.decline, 0, true, false, .decline), (.decline, 0, false, false, .grantFull),
            (.grantFull, 60, true, false, .grantFull), (.grantFull, 60, true, true, .decline),
            (.grantProrated, 0, true, false, .grantFull), (.grantProrated, 30, true, false, .grantProrated),
            (.grantProrated, 60, true, false, .decline), (.grantProrated, 30, true, true, .decline),
            (.grantProrated, 0, false, true, .grantFull),
        ]

    @Test(arguments: preferences.indices) func `the preference is the app's, as far as it fits what happened`(
        place: Int
    ) {
        let row = Self.preferences[place]
        let assessed = Self.assess { facts in
            facts.policy = ConsumptionPolicy(preference: row.wanted, isSampleProvided: false)
            facts.isDelivered = row.isDelivered
            facts.lots = []
            if row.isDelivered { facts.lots.append((amount: 60, spent: row.spent)) }
            guard row.isReviewed else { return }
            facts.review = RiskLimit(refunds: 1, amounts: [])
            facts.bought = [Self.refund("7", at: Shop.day - 1, price: 1)]
        }
        #expect(assessed.preference == row.told)
        #expect(assessed.isUnderReview == row.isReviewed)
    }

    private static func refund(
        _ id: String, at date: Int64, price: Int64?, currency: String? = "USD", share: Int64 = 100_000
    ) -> CountedRefund {
        CountedRefund(
            key: TransactionKey(environment: .production, transactionID: TransactionID(id)), customer: Shop.alice,
            revocationDate: date, price: price, currency: currency, share: share)
    }

    @Test func `the customer's history is counted, and dollars only where all of it is dollars (A-116)`() {
        let long = Shop.day - 31 * 86_400_000
        let bought = [
            Self.refund("1", at: 0, price: 9_990, share: 0), Self.refund("2", at: Shop.day - 1, price: 9_990),
            Self.refund("3", at: long, price: 4_000, share: 50_000),
        ]
        let dollars = Self.assess { $0.bought = bought }
        #expect(dollars.purchases == 3 && dollars.refunds == 2 && dollars.recentRefunds == 1)
        #expect(dollars.dollarsPurchased == 23_980 && dollars.dollarsRefunded == 11_990)
        let mixed = Self.assess { $0.bought = bought + [Self.refund("4", at: 0, price: 1, currency: "EUR", share: 0)] }
        #expect(mixed.purchases == 4 && mixed.dollarsPurchased == nil && mixed.dollarsRefunded == nil)
        let cleared = Self.assess {
            $0.bought = bought
            $0.review = RiskLimit(refunds: 1, amounts: [])
            $0.clearedUntil = Shop.day
        }
        #expect(!cleared.isUnderReview && cleared.recentRefunds == 1)
    }

    @Test func `without policy, owner or consent nothing about the person is told`() {
        let none = Self.assess { $0.policy = nil }
        #expect(none == ConsumptionAssessed(isAnswered: false))
        let bought = [Self.refund("2", at: Shop.day - 1, price: 9_990)]
        for change: @Sendable (inout ConsumptionAssessment.Facts) -> Void in [
            { $0.hasConsented = false }, { $0.customer = nil },
        ] {
            let silent = Self.assess {
                $0.bought = bought
                change(&$0)
            }
            #expect(silent.isAnswered && !silent.hasConsented && silent.purchases == 0 && silent.preference == nil)
        }
        #expect(!Self.assess { $0.purchase = nil }.isOwned)
    }
}
