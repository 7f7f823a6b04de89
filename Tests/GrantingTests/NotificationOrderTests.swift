import Messages
import Postgres
import TestSupport
import Testing

@testable import Granting

@Suite struct NotificationOrderTests {
    /// What must not depend on the order in which the events of one purchase arrive.
    struct EndState: Equatable, Hashable {
        var balance: Int64
        var ledger: Int64
        var left: Int64
        var debt: Int64
        var share: Int64
        var owner: CustomerID?
        var held: HeldReason?
        var order: OrderNumber?
        var isOrderSettled: Bool
        var record: [String]
    }

    private static func endState(_ shop: Shop, _ story: NotificationStory) -> EndState {
        let key = story.statement(.purchase).key
        let lot = LotKey(purchase: key, asset: Shop.coins)
        let purchase = shop.books.purchases[key]
        let order = shop.books.orders[OrderNumber("A1")]
        let share = purchase?.statement.revokedShare ?? -1
        return EndState(
            balance: shop.balance(),
            ledger: shop.books.changes.ledger.reduce(0) { $0 + ($1.direction == .into ? $1.amount : -$1.amount) },
            left: shop.books.lots[lot]?.remaining ?? 0, debt: shop.books.debts[lot]?.open ?? 0, share: share,
            owner: purchase?.owner, held: purchase?.heldReason,
            order: purchase?.orderNumber, isOrderSettled: order?.deliveredBy == key,
            record: Set(shop.books.changes.refundStatements.map { "\($0.statement.signedDate)" }).sorted())
    }

    private static let stories = [
        NotificationStory(hasToken: true), NotificationStory(hasToken: true, last: 100_000),
        NotificationStory(hasToken: false), NotificationStory(hasToken: false, last: 100_000),
    ]

    @Test(arguments: stories)
    func `all orders of all sets of purchase, charge, refunds and reversal end in one state a set (A-114 A-115 R07)`(
        story: NotificationStory
    ) {
        for events in subsets(NotificationStory.Event.allCases) {
            var states: Set<EndState> = []
            for order in permutations(events) {
                var shop = Shop()
                if story.hasToken { _ = shop.order("A1") }
                for event in order { _ = story.tell(event, to: &shop) }
                #expect(shop.books.imbalances == [], "\(order)")
                states.insert(Self.endState(shop, story))
            }
            #expect(states.count == 1, "\(events): \(states)")
            let share = story.share(events)
            let isGranted = story.isGranted(events)
            #expect(states.first?.balance == (isGranted ? 60 - 60 * share / 100_000 : 0), "\(events)")
            #expect(states.first?.share == share)
            #expect(states.first?.owner == (isGranted ? Shop.alice : nil), "\(events)")
            #expect(states.first?.isOrderSettled == (isGranted && story.hasToken), "\(events)")
        }
    }

    @Test(arguments: stories)
    func `whenever something is spent in between, balance, debt and what was spent make the same total (A-111)`(
        story: NotificationStory
    ) {
        var debts = 0
        for (number, order) in permutations(NotificationStory.Event.allCases).enumerated() {
            for (place, spent) in [(1 + number % 5, Int64(50)), (number % 6, 90)] {
                var shop = Shop()
                if story.hasToken { _ = shop.order("A1") }
                _ = shop.submit(transaction("2"), by: Shop.alice)
                var total: Int64 = 60
                for (index, event) in order.enumerated() {
                    if index == place, shop.spend(spent, id: "s").answer.outcome == .spent { total -= spent }
                    _ = story.tell(event, to: &shop)
                }
                #expect(shop.books.imbalances == [], "\(order)")
                let owed = shop.books.debts.values.reduce(Int64(0)) { $0 + $1.open }
                debts += owed > 0 ? 1 : 0
                #expect(
                    shop.balance() - owed == total + 60 - 60 * story.share(order) / 100_000, "\(order) \(place)")
            }
        }
        #expect(debts > 0 || story.last == 30_000)
    }

    @Test func `across purchases no order of refunds and reversals changes the balance or what is owed`() {
        for chosen in subsets([0, 1, 2, 3, 4]) {
            var ends: Set<[Int64]> = []
            for order in permutations(chosen) {
                var shop = Shop()
                for id in 1...3 { _ = shop.submit(transaction("\(id)"), by: Shop.alice) }
                _ = shop.spend(90, id: "s")
                for event in order {
                    let (id, signed) = [("1", 1), ("1", 2), ("2", 1), ("2", 2), ("3", 1)][event]
                    let isRefund = signed == 1
                    _ = shop.notify(
                        isRefund ? .refund : .refundReversed,
                        transaction(id, signed: Int64(signed), revoked: isRefund ? 100_000 : nil))
                }
                #expect(shop.books.imbalances == [], "\(order)")
                ends.insert([shop.balance(), shop.books.debts.values.reduce(Int64(0)) { $0 + $1.open }])
            }
            #expect(ends.count == 1, "\(chosen): \(ends)")
        }
    }

    @Test func `a sample of all orders ends in the same rows, in batches of any size (A-115 R07)`() async throws {
        try await GrantingDatabase.with("notification_orders") { granting in
            var random = SeededGenerator(seed: 5)
            var session = try granting.open()
            var handler = ApplyNotifications()
            let all = permutations(NotificationStory.Event.allCases)
            for number in 1...40 {
                let order = all.randomElement(using: &random) ?? []
                let token = RandomHistory.uuid(4, number).rawValue
                let story = NotificationStory(id: "\(number)", token: token)
                let request = OrderRequested(
                    app: Shop.app, userID: UserID("user\(number)"), productID: Shop.coins60,
                    orderNumber: OrderNumber("A\(number)"), appAccountToken: token)
                _ = try session.run(DecideWallet(), [try message(request)])
                var rest = order[...]
                while let first = rest.first {
                    if first == .purchase {
                        let purchase = try verified(
                            story.statement(first), by: "user\(number)", order: OrderNumber("A\(number)"))
                        _ = try session.run(GrantPurchases(), [purchase])
                        rest = rest.dropFirst()
                        continue
                    }
                    let batch = rest.prefix { $0 != .purchase }.prefix(Int.random(in: 1...4, using: &random))
                    let told = try batch.flatMap { event in
                        // Now and then under a second UUID too.
                        try (0...(Int.random(in: 0...3, using: &random) / 3)).map { _ in
                            try notified(story.type(event) ?? .test, story.statement(event))
                        }
                    }
                    _ = try session.run(&handler, told)
                    rest = rest.dropFirst(batch.count)
                }
            }
            #expect(try granting.imbalances() == [])
            let states = try granting.rows(Self.states).map { try $0.text("state") }
            #expect(states == ["42 42 42 0 30000 A t 4"], "\(states)")
        }
    }

    private static let states = """
        SELECT DISTINCT concat_ws(' ', a.balance, sum(CASE e.direction WHEN 'IN' THEN e.amount ELSE -e.amount END),
            l.remaining, coalesce((SELECT sum(d.amount - d.settled) FROM granting.debts d WHERE d.customer = c.customer), 0),
            t.revoked_share, left(t.order_number, 1), o.delivered_transaction = t.transaction_id, (SELECT count(*)
                FROM granting.refund_statements r WHERE r.transaction_id = t.transaction_id)) AS state
        FROM granting.customers c
        JOIN granting.accounts a USING (customer) JOIN granting.ledger e USING (customer)
        JOIN granting.lots l ON l.customer = c.customer JOIN granting.transactions t ON t.owner = c.customer
        JOIN granting.orders o ON o.order_number = t.order_number
        GROUP BY c.customer, a.balance, l.remaining, t.revoked_share, t.order_number, o.delivered_transaction,
            t.transaction_id
        """
}
