import Messages
import Testing

@testable import Granting

@Suite struct RandomHistoryTests {
    static let customers = ["alice": Shop.alice, "bob": Shop.bob]

    /// Decides a step on real books and says the answer in the naive model's words.
    static func decide(_ step: RandomHistory.Step, on shop: inout Shop) -> String {
        switch step.event {
        case .order(let number, let token, let product, let user):
            let decision = shop.order(
                number.rawValue, product, by: customers[user] ?? Shop.alice, token: token, cause: step.cause)
            return decision.answer.code?.rawValue ?? decision.answer.orderNumber?.rawValue ?? "?"
        case .notification(let statement, let type):
            return word(shop.notify(type, statement, cause: step.cause).answer)
        case .spend(let user, let amount, let id):
            let answer = shop.spend(amount, id: id, by: customers[user] ?? Shop.alice).answer
            guard let outcome = answer.outcome else { return answer.code?.rawValue ?? "?" }
            return "\(outcome.rawValue) \(answer.balanceAfter ?? -1)"
        case .purchase(let statement, let user, let order):
            let decision = shop.submit(statement, by: user.flatMap { customers[$0] }, order: order, cause: step.cause)
            return word(decision.answer)
        }
    }

    static func word(_ answer: PurchaseAnswered?) -> String {
        guard let answer else { return "-" }
        if let code = answer.code { return code.rawValue }
        let coins = answer.balances.first { $0.asset == Shop.coins }?.amount ?? 0
        return "\(answer.status.rawValue) \(coins)"
    }

    @Test(arguments: 1...120)
    func `any history is decided as the rules say it one by one (INV1 INV3 INV4)`(seed: Int) throws {
        var shop = Shop()
        var naive = NaiveShop()
        for (index, step) in RandomHistory(seed: UInt64(seed), length: 150).steps.enumerated() {
            let expected = naive.handle(step)
            try #require(Self.decide(step, on: &shop) == expected, "seed \(seed), step \(index): \(step)")
        }
        #expect(shop.books.imbalances == [], "seed \(seed)")
        for (user, customer) in Self.customers {
            for asset in [Shop.coins, Shop.minutes] {
                #expect(shop.balance(customer, asset) == naive.balance(user, asset), "seed \(seed) \(user)")
            }
            let piles = (naive.piles[user] ?? []).map {
                "\($0.environment)\($0.from)\($0.asset) \($0.left) \($0.isFrozen)"
            }
            let lots = shop.books.lots.values.filter { $0.customer == customer }.map {
                "\($0.key.purchase.environment)\($0.key.purchase.transactionID)\($0.key.asset) \($0.remaining) \($0.isFrozen)"
            }
            #expect(lots.sorted() == piles.sorted(), "seed \(seed) \(user)")
        }
        let owed = shop.books.debts.values.reduce(Int64(0)) { $0 + $1.open }
        #expect(owed == naive.grants.values.reduce(Int64(0)) { $0 + $1.debts.values.reduce(0, +) }, "seed \(seed)")
        #expect(shop.books.grants.count == naive.grants.count, "seed \(seed)")
        let waiting = shop.books.purchases.values.filter { $0.heldReason == .ownedPermanently }.map(\.key)
        #expect(Set(waiting.map { "\($0.environment)\($0.transactionID)" }) == naive.waiting, "seed \(seed)")
        let delivered = shop.books.orders.values.filter { $0.deliveredBy != nil && $0.siblingOf == nil }.map(\.number)
        #expect(Set(delivered) == Set(naive.orders.filter(\.value.isDelivered).map(\.key)), "seed \(seed)")
    }

    @Test func `the histories reach what they are meant to reach`() {
        var words: Set<String> = []
        var debts = 0
        var frozen = 0
        var releases = 0
        for seed in 1...120 {
            var naive = NaiveShop()
            for step in RandomHistory(seed: UInt64(seed), length: 150).steps {
                words.insert(String(naive.handle(step).prefix { $0 != " " }))
            }
            debts += naive.grants.values.filter { $0.debts.values.contains { $0 > 0 } }.count
            releases += naive.releases
            frozen += naive.piles.values.joined().filter(\.isFrozen).count
        }
        let expected: Set = [
            "granted", "already_granted", "spent", "not_enough", "SPEND_CONFLICT", "ORDER_NOT_FOUND",
            "ORDER_USER_MISMATCH", "ORDER_PRODUCT_MISMATCH", "APP_ACCOUNT_TOKEN_MISMATCH",
            "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER", "TRANSACTION_ALREADY_REVOKED", "SANDBOX_NOT_ALLOWED",
            "ALREADY_OWNED",
        ]
        #expect(expected.subtracting(words).isEmpty, "\(expected.subtracting(words))")
        #expect(debts > 0 && frozen > 0 && releases > 0)
    }
}
