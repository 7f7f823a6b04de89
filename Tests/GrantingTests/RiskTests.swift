import Messages
import Postgres
import Testing

@testable import Granting

@Suite struct RiskTests {
    private static let dayLength: Int64 = 86_400_000

    /// Limits at two and three refunds, and at 5 yuan for orders.
    private static let policy = RiskPolicy(
        orders: RiskLimit(refunds: 3, amounts: [MoneyAmount(currency: "CNY", milliunits: 5_000)]),
        spends: RiskLimit(refunds: 3, amounts: []), review: RiskLimit(refunds: 2, amounts: []))

    private static func definition() -> CatalogDefinition {
        var definition = Shop.definition(audience: .everybody)
        definition.policies.risk = policy
        return definition
    }

    private func shop() -> Shop {
        var shop = Shop()
        shop.books.catalogs[Shop.app] = Catalog(
            version: 1, definition: Self.definition(), history: shop.books.catalogs[Shop.app]?.history ?? [:])
        return shop
    }

    private func statement(
        _ id: Int, signed: Int64 = 0, revoked: Int64? = nil, price: Int64 = 1_000, currency: String = "CNY",
        environment: StoreEnvironment = .production
    ) -> VerifiedTransaction {
        var statement = transaction("\(id)", environment: environment, signed: signed, revoked: revoked)
        (statement.price, statement.currency) = (price, currency)
        return statement
    }

    private func refund(
        _ id: Int, in shop: inout Shop, price: Int64 = 1_000, share: Int64 = 100_000,
        currency: String = "CNY", environment: StoreEnvironment = .production
    ) -> [RiskKind] {
        _ = shop.submit(
            statement(id, price: price, currency: currency, environment: environment), by: Shop.alice)
        let told = shop.notify(
            .refund,
            statement(
                id, signed: 1, revoked: share, price: price, currency: currency, environment: environment))
        return told.announcements.compactMap { if case .riskFlagged(let flag) = $0.body { flag.kind } else { nil } }
    }

    @Test func `refunds of 30 days lead to a review, then to no orders and no spending (A-133 A-134)`() {
        var shop = shop()
        #expect(refund(1, in: &shop) == [])
        #expect(refund(2, in: &shop) == [.review], "somebody is to look")
        _ = shop.submit(statement(9), by: Shop.alice)
        #expect(shop.order("A1").answer.code == nil && shop.spend(1, id: "s1").answer.outcome == .spent)
        #expect(refund(3, in: &shop) == [.review])
        #expect(shop.order("A2", token: RandomHistory.uuid(3, 2).rawValue).answer.code == .orderingRestricted)
        let refused = shop.spend(1, id: "s2").answer
        #expect(refused.outcome == .restricted && refused.code == .spendingRestricted)
        #expect(shop.order("A3", by: Shop.bob, token: Shop.bobToken).answer.code == nil, "others are not concerned")
        shop.books.now += 29 * Self.dayLength
        #expect(shop.order("A4", token: RandomHistory.uuid(3, 4).rawValue).answer.code == .orderingRestricted)
        shop.books.now += 2 * Self.dayLength
        #expect(shop.order("A5", token: RandomHistory.uuid(3, 5).rawValue).answer.code == nil)
        #expect(shop.spend(1, id: "s2").answer == refused, "a decision stays")
        #expect(shop.spend(1, id: "s3").answer.outcome == .spent)
        #expect(shop.books.imbalances == [])
    }

    private func kinds(_ decision: PurchaseDecision) -> [RiskKind] {
        decision.announcements.compactMap { if case .riskFlagged(let flag) = $0.body { flag.kind } else { nil } }
    }

    @Test func `a purchase refunded in full before it was delivered counts as one refunded after, once (A-133)`() {
        for isRefundFirst in [false, true] {
            var shop = shop()
            _ = refund(1, in: &shop)
            let events = [
                { (shop: inout Shop) in self.kinds(shop.submit(self.statement(2), by: Shop.alice)) },
                { (shop: inout Shop) in
                    self.kinds(shop.notify(.refund, self.statement(2, signed: 1, revoked: 100_000)))
                },
            ]
            let raised = (isRefundFirst ? events.reversed() : events).flatMap { $0(&shop) }
            #expect(raised == [.review], "refund first: \(isRefundFirst)")
            #expect(kinds(shop.submit(statement(2), by: Shop.alice)) == [], "sent again it counts no more")
            #expect(kinds(shop.notify(.refund, statement(2, signed: 2, revoked: 100_000))) == [])
            #expect(kinds(shop.submit(statement(3, revoked: 100_000), by: Shop.alice)) == [.review])
            let token = RandomHistory.uuid(3, 2).rawValue
            #expect(shop.order("A2", token: token).answer.code == .orderingRestricted)
            // Reversed and refunded again: delivered meanwhile, a change of its grant.
            #expect(kinds(shop.notify(.refundReversed, statement(3, signed: 4))) == [])
            #expect(kinds(shop.notify(.refund, statement(3, signed: 5, revoked: 100_000))) == [.review])
            let flags = shop.books.changes.flags.map { "\($0.key) \($0.kind) \($0.revision)" }
            #expect(Set(flags).count == flags.count, "no two of one key")
        }
    }

    @Test func `one that nobody owns counts for nobody; a reversed one counts no more`() {
        var shop = shop()
        _ = refund(1, in: &shop)
        #expect(kinds(shop.notify(.refund, statement(2, revoked: 100_000))) == [])
        #expect(shop.books.changes.flags.isEmpty)
        _ = shop.submit(statement(3, revoked: 100_000), by: Shop.alice)
        _ = shop.notify(.refundReversed, statement(3, signed: 1))
        #expect(kinds(shop.submit(statement(4, revoked: 100_000), by: Shop.alice)) == [.review], "one and four")
        _ = shop.notify(.refundReversed, statement(4, signed: 1))
        #expect(kinds(shop.submit(statement(5, revoked: 100_000), by: Shop.alice)) == [.review], "one and five")
        #expect(shop.order("A1").answer.code == nil)
    }

    @Test func `a purchase is still delivered, whatever was refunded`() {
        var shop = shop()
        for id in 1...4 { _ = refund(id, in: &shop) }
        #expect(shop.submit(statement(9), by: Shop.alice).answer?.status == .granted)
    }

    @Test func `the amount counts by its share, each currency by itself; a reversal and an operator end it`() {
        var shop = shop()
        _ = refund(1, in: &shop, price: 9_000, share: 50_000)
        #expect(shop.order("A1").answer.code == nil, "4.50 yuan")
        _ = refund(2, in: &shop, price: 90_000, currency: "EUR")
        #expect(shop.order("A2", token: RandomHistory.uuid(3, 2).rawValue).answer.code == nil)
        _ = shop.notify(.refund, statement(1, signed: 2, revoked: 60_000, price: 9_000))
        let token = RandomHistory.uuid(3, 3).rawValue
        #expect(shop.order("A3", token: token).answer.code == .orderingRestricted, "5.40 yuan")
        var cleared = shop
        cleared.books.clearedUntil[Shop.alice] = Shop.day + 10
        #expect(cleared.order("A3", token: token).answer.code == nil)
        _ = shop.notify(.refundReversed, statement(1, signed: 3, price: 9_000))
        #expect(shop.order("A3", token: token).answer.code == nil)
    }

    @Test func `each environment is counted by itself`() {
        var shop = shop()
        for id in 1...2 { _ = refund(id, in: &shop) }
        for id in 3...4 { _ = refund(id, in: &shop, environment: .sandbox) }
        #expect(shop.order("A1").answer.code == nil)
    }

    @Test func `limits hold in the database, and an operator's word lifts them (A-134)`() async throws {
        try await GrantingDatabase.with("risk", Self.definition()) { granting in
            var session = try granting.open()
            let now = try granting.rows("SELECT (extract(epoch FROM now()) * 1000)::bigint AS now").first?.int8("now")
            for id in 1...3 {
                _ = try session.run(GrantPurchases(), [try verified(statement(id), by: "alice")])
                var refund = statement(id, signed: 1, revoked: 100_000)
                refund.revocationDate = (now ?? 0) - 1_000
                _ = try session.run(ApplyNotifications(), [try notified(.refund, refund)])
            }
            _ = try session.run(GrantPurchases(), [try verified(statement(9), by: "alice")])
            func order(_ number: Int) throws -> AnswerCode? {
                let request = OrderRequested(
                    app: Shop.app, userID: UserID("alice"), productID: Shop.coins60,
                    orderNumber: OrderNumber("A\(number)"), appAccountToken: RandomHistory.uuid(3, number).rawValue)
                let outcomes = try session.run(DecideWallet(), [try message(request)])
                let answer = try outcomes[0].answer(OrderAnswered.self)
                return answer?.code
            }
            #expect(try order(1) == .orderingRestricted)
            let spent = try session.run(DecideWallet(), [try spending(1, id: "s", by: "alice")])
            #expect(try spent[0].answer(SpendAnswered.self)?.outcome == .restricted)
            #expect(try granting.rows("SELECT FROM granting.risk_flags WHERE kind = 'review'").count == 2)
            let request = RiskClearRequested(
                app: Shop.app, userID: UserID("alice"), actor: "op", reason: "her child bought")
            let incoming = try message(request)
            for _ in 0..<2 {
                let outcomes = try session.run(RunCommands(), [incoming])
                #expect(try outcomes[0].answer(RiskClearAnswered.self) != nil)
            }
            #expect(
                try granting.rows("SELECT FROM granting.risk_clearances").count == 1, "delivered twice, once on record")
            let cleared = try granting.rows("SELECT key, body FROM granting.facts WHERE type = 'risk.cleared'")
            #expect(try cleared.map { try $0.text("body").contains("child") } == [false])
            let stranger = RiskClearRequested(app: Shop.app, userID: UserID("nobody"), actor: "op", reason: "?")
            let unknown = try session.run(RunCommands(), [try message(stranger)])[0]
            #expect(try unknown.answer(RiskClearAnswered.self)?.isUnknownUser == true && unknown.facts.isEmpty)
            #expect(try order(2) == nil)
            #expect(try granting.imbalances() == [])
        }
    }
}
