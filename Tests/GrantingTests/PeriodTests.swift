import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// One period of a subscription told of by two transactions: one purchase event, credited once, refunded once.
@Suite struct PeriodTests {
    static let products = [
        Shop.product(
            Shop.subscription, [(Shop.coins, 10)], type: "Auto-Renewable Subscription", entitlement: "gold")
    ]

    /// What may be told, each with its own date of signature. `b` is the second transaction of the period.
    enum Event: Int, CaseIterable {
        case purchaseA, purchaseB, refundB40, refundB100, reversalB, refundA30

        var type: AppleNotificationType? {
            switch self {
            case .purchaseA, .purchaseB: nil
            case .refundB40, .refundB100, .refundA30: .refund
            case .reversalB: .refundReversed
            }
        }
    }

    static func statement(_ event: Event, number: Int = 0, token: String? = nil) -> VerifiedTransaction {
        let share: Int64? =
            switch event {
            case .purchaseA, .purchaseB, .reversalB: nil
            case .refundB40: 40_000
            case .refundB100: 100_000
            case .refundA30: 30_000
            }
        let isA = event == .purchaseA || event == .refundA30
        return period(
            "\(number)\(isA ? "a" : "b")", original: "\(number)a", "item-\(number)", token: token,
            signed: Int64(event.rawValue), revoked: share)
    }

    static func period(
        _ id: String, original: String = "1", _ item: String, token: String? = nil, signed: Int64 = 0,
        revoked: Int64? = nil, bought: Int64 = Shop.day
    ) -> VerifiedTransaction {
        var statement = transaction(
            id, Shop.subscription, original: original, type: "Auto-Renewable Subscription", token: token,
            signed: signed, revoked: revoked, hash: "0\(signed)", bought: bought)
        statement.webOrderLineItemID = item
        statement.expiresDate = bought + 100 * 365 * 86_400_000
        return statement
    }

    /// What must not depend on the order of arrival.
    struct EndState: Hashable {
        var balance: Int64
        var debt: Int64
        var owners: [CustomerID?]
        var waiting: [HeldReason?]
        var grants: Int
    }

    @Test(arguments: [nil, Shop.aliceToken])
    func `a period's refund is one, whichever of its transactions is refunded, in every order of arrival (R07)`(
        token: String?
    ) {
        for events in subsets(Event.allCases) {
            var states: Set<EndState> = []
            for order in permutations(events) {
                var shop = Shop(products: Self.products)
                if token != nil { _ = shop.order("A1", Shop.subscription) }
                for event in order {
                    let statement = Self.statement(event, token: token)
                    if let type = event.type {
                        _ = shop.notify(type, statement)
                    } else {
                        _ = shop.submit(statement, by: Shop.alice)
                    }
                }
                #expect(shop.books.imbalances == [], "\(order)")
                let told = shop.books.purchases.sorted { $0.key < $1.key }.map(\.value)
                let hasGrant = !shop.books.grants.isEmpty
                #expect(told.allSatisfy { ($0.deliveredBy != nil) == hasGrant }, "\(order)")
                let net = shop.books.grants.values.filter { $0.appliedShare < 100_000 }.count
                states.insert(
                    EndState(
                        balance: shop.balance(), debt: shop.books.debts.values.reduce(0) { $0 + $1.open },
                        owners: told.map(\.owner), waiting: told.map(\.heldReason), grants: net))
            }
            #expect(states.count == 1, "\(events): \(states)")
            let newest = events.max { $0.rawValue < $1.rawValue }.map { Self.statement($0).revokedShare } ?? 0
            let claims: [Event] = token == nil ? [.purchaseA, .purchaseB] : [.purchaseA, .purchaseB, .reversalB]
            let isClaimed = events.contains { claims.contains($0) }
            #expect(states.first?.balance == (isClaimed ? 10 - 10 * newest / 100_000 : 0), "\(events)")
            #expect(states.first?.owners.allSatisfy { $0 == (isClaimed ? Shop.alice : nil) } == true, "\(events)")
        }
    }

    @Test func `a transaction of the period that is proven another's changes nothing for the one who has it`() {
        var shop = Shop(products: Self.products)
        _ = shop.order("B1", Shop.subscription, by: Shop.bob, token: Shop.bobToken)
        _ = shop.submit(Self.statement(.purchaseA), by: Shop.alice)
        _ = shop.notify(.refund, Self.statement(.refundB100, token: Shop.bobToken))
        #expect(shop.balance() == 10)
        let sent = shop.submit(Self.statement(.purchaseB, token: Shop.bobToken), by: Shop.bob)
        #expect(sent.answer?.status == .held && sent.answer?.reason == HeldReason.notDeliverable.rawValue)
        #expect(shop.balance() == 10 && shop.balance(Shop.bob) == 0)
        #expect(shop.books.imbalances == [])
    }

    @Test func `the owner of a subscription is the newest period's, in one batch as in many`() {
        for isNewestFirst in [false, true] {
            var shop = Shop(products: Self.products)
            _ = shop.order("B1", Shop.subscription, by: Shop.bob, token: Shop.bobToken)
            let periods = [
                Self.period("1", "x"), Self.period("2", "y", token: Shop.bobToken, bought: Shop.day + 1_000),
            ]
            for statement in isNewestFirst ? periods.reversed() : periods {
                _ = shop.submit(statement, by: statement.appAccountToken == nil ? Shop.alice : Shop.bob)
            }
            // Bob subscribed anew with the same Apple account, and proves it; what renews now is his.
            _ = shop.notify(.didRenew, Self.period("3", "z", bought: Shop.day + 2_000))
            #expect(shop.balance(Shop.bob) == 20, "\(isNewestFirst)")
        }
    }

    @Test func `a refunded period that was bound without a grant keeps its subscription for its owner`() {
        var shop = Shop(products: Self.products)
        _ = shop.submit(Self.period("1", "x", revoked: 100_000), by: Shop.alice)
        let other = shop.submit(Self.period("2", "y", bought: Shop.day + 1_000), by: Shop.bob)
        #expect(other.answer?.code == .transactionAlreadyBound, "as the next batch would find it")
        #expect(shop.books.subscriptionOwners.values.map(\.customer) == [Shop.alice])
    }

    @Test func `a sample of all orders ends in the same rows, and access ends with the refund (R07)`() async throws {
        let definition = Shop.definition(products: Self.products)
        try await GrantingDatabase.with("periods", definition) { granting in
            var random = SeededGenerator(seed: 11)
            var session = try granting.open()
            let all = permutations(Event.allCases.filter { $0 != .refundA30 && $0 != .reversalB })
            for number in 1...24 {
                for event in all.randomElement(using: &random) ?? [] {
                    let statement = Self.statement(event, number: number)
                    if let type = event.type {
                        _ = try session.run(ApplyNotifications(), [try notified(type, statement)])
                    } else {
                        _ = try session.run(GrantPurchases(), [try verified(statement, by: "user\(number)")])
                    }
                }
            }
            #expect(try granting.imbalances() == [])
            let states = try granting.rows(
                """
                SELECT DISTINCT concat_ws(' ', count(t.owner), count(DISTINCT t.owner),
                    coalesce((SELECT sum(a.balance) FROM granting.accounts a WHERE a.customer = min(t.owner::text)::uuid), 0),
                    coalesce((SELECT sum(d.amount - d.settled) FROM granting.debts d), 0)) AS state
                FROM granting.transactions t GROUP BY t.original_transaction_id
                """)
            #expect(try states.map { try $0.text("state") } == ["2 1 0 0"])
            for number in 1...24 {
                let question = EntitlementsRequested(app: Shop.app, userID: UserID("user\(number)"))
                let outcome = try session.run(AnswerQueries(), [try message(question)])[0]
                let states = try outcome.answer(EntitlementsAnswered.self)?.entitlements ?? []
                #expect(states.allSatisfy { !$0.isActive }, "\(number)")
            }
            // And the reversal, told of the second transaction only, brings everything back.
            for number in 1...24 {
                let reversal = Self.statement(.reversalB, number: number)
                _ = try session.run(ApplyNotifications(), [try notified(.refundReversed, reversal)])
                let question = EntitlementsRequested(app: Shop.app, userID: UserID("user\(number)"))
                let outcome = try session.run(AnswerQueries(), [try message(question)])[0]
                #expect(try outcome.answer(EntitlementsAnswered.self)?.entitlements.map(\.isActive) == [true])
            }
            let sum = try granting.rows("SELECT sum(balance)::bigint AS n FROM granting.accounts")
            #expect(try sum.first?.int8("n") == 240)
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `a refund of the second transaction finds what is spent of the first, and other lots of its owner`()
        async throws
    {
        let definition = Shop.definition(products: Self.products + [Shop.product(Shop.coins60, [(Shop.coins, 60)])])
        try await GrantingDatabase.with("period_spent", definition) { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [try verified(Self.statement(.purchaseA), by: "alice")])
            _ = try session.run(DecideWallet(), [try spending(10, id: "s", by: "alice")])
            _ = try session.run(GrantPurchases(), [try verified(transaction("9"), by: "alice")])
            _ = try session.run(ApplyNotifications(), [try notified(.refund, Self.statement(.refundB100))])
            let rows = try granting.rows(
                """
                SELECT a.balance, coalesce((SELECT sum(amount - settled) FROM granting.debts), 0)::bigint AS owed
                FROM granting.accounts a
                """)
            let found = try rows.map { [try $0.int8("balance"), try $0.int8("owed")] }
            #expect(found == [[50, 0]], "\(found)")
            #expect(try granting.imbalances() == [])
        }
    }
}
