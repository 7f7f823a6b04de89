import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// The same histories through the database: loaded, decided and saved in batches, they must end where one fold in memory
/// ends.
@Suite struct StoredHistoryTests {
    @Test(arguments: 1...6)
    func `a history in random batches leaves the rows that one fold leaves in memory (INV1 INV3)`(seed: Int)
        async throws
    {
        let steps = RandomHistory(seed: UInt64(seed), length: 250).steps
        var shop = Shop()
        let expected = steps.map { RandomHistoryTests.decide($0, on: &shop) }
        let inMemory = Self.lots(shop) + Self.debts(shop)
        let (answers, rows, problems) = try await GrantingDatabase.with("history_\(seed)") { granting in
            let answers = try Self.replay(steps, seed, on: granting)
            let rows = try granting.rows(Self.state).map { try $0.text("line") }
            return (answers, rows, try granting.imbalances())
        }
        for (index, (answer, wanted)) in zip(answers, expected).enumerated() {
            try #require(answer == wanted, "seed \(seed), step \(index): \(steps[index])")
        }
        #expect(problems == [], "seed \(seed)")
        #expect(rows == inMemory.sorted(), "seed \(seed)")
    }

    @Test func `two lanes with the same history in different orders keep the books`() async throws {
        try await GrantingDatabase.with("two_lanes") { granting in
            let steps = RandomHistory(seed: 77, length: 400).steps
            _ = try together(2) { number in
                try Self.replay(number == 0 ? steps : steps.reversed(), number, on: granting)
            }
            #expect(try granting.imbalances() == [])
            #expect(try granting.rows("SELECT FROM granting.grants").count > 5)
        }
    }

    /// Runs consecutive steps of one queue as batches of random size, each now and then by a fresh handler.
    static func replay(
        _ steps: [RandomHistory.Step], _ seed: Int, on granting: GrantingDatabase
    ) throws -> [String] {
        var random = SeededGenerator(seed: UInt64(seed) &+ 1_000)
        var session = try granting.open()
        var purchases = GrantPurchases()
        var wallet = DecideWallet()
        var notifications = ApplyNotifications()
        var answers: [String] = []
        var rest = steps[...]
        while let first = rest.first {
            let limit = Int.random(in: 1...20, using: &random)
            let batch = rest.prefix(limit).prefix { kind($0) == kind(first) }
            rest = rest.dropFirst(batch.count)
            let incoming = try batch.map(incoming)
            if Bool.random(using: &random) {
                (purchases, wallet, notifications) = (GrantPurchases(), DecideWallet(), ApplyNotifications())
            }
            // No retry: a deadlock between the lanes would be a fault of the lock order.
            let outcomes =
                switch kind(first) {
                case .purchases: try session.run(&purchases, incoming)
                case .notifications: try session.run(&notifications, incoming)
                case .wallet: try session.run(&wallet, incoming)
                }
            answers += try outcomes.map(word)
        }
        return answers
    }

    private enum Kind { case purchases, notifications, wallet }

    private static func kind(_ step: RandomHistory.Step) -> Kind {
        switch step.event {
        case .purchase: .purchases
        case .notification: .notifications
        case .order, .spend: .wallet
        }
    }

    private static func incoming(_ step: RandomHistory.Step) throws -> Incoming {
        switch step.event {
        case .order(let number, let token, let product, let user):
            let request = OrderRequested(
                app: Shop.app, userID: UserID(user), productID: product, orderNumber: number, appAccountToken: token)
            return try message(request, id: step.cause)
        case .purchase(let statement, let user, let order):
            return try verified(statement, by: user, order: order, id: step.cause)
        case .notification(let statement, let type): return try notified(type, statement, id: step.cause)
        case .spend(let user, let amount, let id): return try spending(amount, id: id, by: user, id: step.cause)
        }
    }

    private static func word(_ outcome: Outcome) throws -> String {
        if let answer = try? outcome.answer(PurchaseAnswered.self) { return RandomHistoryTests.word(answer) }
        if let order = try? outcome.answer(OrderAnswered.self), order.orderNumber != nil || order.outcomeCode != nil {
            return order.outcomeCode ?? order.orderNumber?.rawValue ?? "?"
        }
        if let spend = try? outcome.answer(SpendAnswered.self) {
            guard let decided = spend.outcome else { return spend.code?.rawValue ?? "?" }
            return "\(decided.rawValue) \(spend.balanceAfter ?? -1)"
        }
        return "-"
    }

    private static func lots(_ shop: Shop) -> [String] {
        shop.books.lots.values.map { lot in
            let user = lot.customer == Shop.alice ? "alice" : "bob"
            return "lot \(user) \(lot.key.purchase) \(lot.key.asset) \(lot.amount) \(lot.remaining) \(lot.isFrozen)"
        }
    }

    private static func debts(_ shop: Shop) -> [String] {
        shop.books.debts.values.map { "debt \($0.key.purchase) \($0.key.asset) \($0.open)" }
    }

    private static let state = """
        SELECT line FROM (SELECT 'lot ' || c.user_id || ' ' || l.environment || '/' || l.transaction_id || ' ' || l.asset || ' ' || l.amount
            || ' ' || l.remaining || ' ' || l.is_frozen::text AS line
        FROM granting.lots l JOIN granting.customers c USING (customer)
        UNION ALL
        SELECT 'debt ' || d.environment || '/' || d.transaction_id || ' ' || d.asset || ' ' || (d.amount - d.settled)
        FROM granting.debts d) AS lines ORDER BY line COLLATE "C"
        """
}

extension OrderAnswered {
    /// Its code as text.
    fileprivate var outcomeCode: String? { code?.rawValue }
}
