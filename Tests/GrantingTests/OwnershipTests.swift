import Messages
import Testing

@testable import Granting

@Suite struct OwnershipTests {
    private func shopWithOrders() -> Shop {
        var shop = Shop()
        _ = shop.order("A1")
        _ = shop.order("B1", by: Shop.bob, token: Shop.bobToken)
        return shop
    }

    @Test func `an order is stored with its token before either is told (A-025 A-061)`() {
        var shop = Shop()
        let decision = shop.order("A1", cause: MessageID("m"))
        #expect(
            decision.answer
                == OrderAnswered(
                    code: nil, orderNumber: OrderNumber("A1"), productID: Shop.coins60, appAccountToken: Shop.aliceToken
                ))
        #expect(decision.announcements.count == 1)
        #expect(shop.books.tokens[TokenKey(app: Shop.app, token: Shop.aliceToken)]?.customer == Shop.alice)
        let again = shop.order("A1", cause: MessageID("m"))
        #expect(again.answer == decision.answer && again.announcements.isEmpty)
        #expect(shop.books.changes.newOrders.count == 1)
    }

    @Test(arguments: [Shop.minutes60, ProductID("pyy_danbing_999999")])
    func `an order for a disabled or unknown product is refused without a row (A-030 A-108)`(product: ProductID) {
        var shop = Shop()
        #expect(shop.order("A1", product).answer.code == .unknownAppleProductID)
        #expect(shop.books.orders.isEmpty && shop.books.changes.newOrders.isEmpty)
    }

    @Test func `a number or token drawn twice by chance is drawn again`() {
        var shop = shopWithOrders()
        #expect(shop.order("A1", by: Shop.bob, token: "x").answer.code == .purchasePending)
        #expect(shop.order("A2", by: Shop.bob, token: Shop.aliceToken).answer.code == .purchasePending)
    }

    @Test func `a purchase that fits its order delivers it (A-099)`() throws {
        var shop = shopWithOrders()
        let decision = shop.submit(
            transaction("1", token: Shop.aliceToken), by: Shop.alice, order: OrderNumber("A1"))
        #expect(decision.answer?.status == .granted)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == transaction("1").key)
        guard case .granted(let fact) = decision.announcements.first?.body else {
            Issue.record("no fact")
            return
        }
        #expect(fact.orderNumber == OrderNumber("A1") && !fact.isClaimedByCaller)
    }

    struct Mismatch: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var purchase: VerifiedTransaction
        var caller: CustomerID
        var order: String
        var code: AnswerCode
        var event: SecurityEvent?
    }

    static let mismatches = [
        Mismatch(
            testDescription: "unknown order (A-084)", purchase: transaction("1"), caller: Shop.alice, order: "X",
            code: .orderNotFound),
        Mismatch(
            testDescription: "somebody else's order (A-085 A-144)", purchase: transaction("1"), caller: Shop.bob,
            order: "A1", code: .orderUserMismatch, event: .foreignOrder),
        Mismatch(
            testDescription: "another product (A-086 A-131 A-143)", purchase: transaction("1", Shop.minutes60),
            caller: Shop.alice, order: "A1", code: .orderProductMismatch),
        Mismatch(
            testDescription: "unknown token (A-087)",
            purchase: transaction("1", token: "99999999-9999-4999-8999-999999999999"), caller: Shop.alice, order: "A1",
            code: .appAccountTokenMismatch),
        Mismatch(
            testDescription: "somebody else's token (A-087 A-131)", purchase: transaction("1", token: Shop.bobToken),
            caller: Shop.alice, order: "A1", code: .appAccountTokenMismatch, event: .foreignToken),
    ]

    @Test(arguments: mismatches)
    func `an order that does not match grants nothing and leaves the purchase claimable`(mismatch: Mismatch) {
        var shop = shopWithOrders()
        let decision = shop.submit(mismatch.purchase, by: mismatch.caller, order: OrderNumber(mismatch.order))
        #expect(
            decision.answer
                == PurchaseAnswered(
                    status: .refused, code: mismatch.code, mayFinish: false, securityEvent: mismatch.event))
        #expect(decision.announcements.map(\.isNote) == [true] && shop.books.grants.isEmpty)
        #expect(shop.books.purchases[transaction("1").key]?.owner == nil)
        let rightful = mismatch.purchase.appAccountToken == Shop.bobToken ? Shop.bob : mismatch.caller
        #expect(shop.submit(mismatch.purchase, by: rightful).answer?.status == .granted)
    }

    @Test func `an order of another app is not found`() {
        var shop = shopWithOrders()
        shop.books.orders[OrderNumber("A1")]?.app = Shop.otherApp
        #expect(shop.submit(transaction("1"), by: Shop.alice, order: OrderNumber("A1")).answer?.code == .orderNotFound)
    }

    @Test func `a known token decides the owner, whoever calls (S22 BR08)`() {
        var shop = shopWithOrders()
        let purchase = transaction("1", token: Shop.aliceToken)
        #expect(
            shop.submit(purchase, by: Shop.bob).answer
                == PurchaseAnswered(
                    status: .refused, code: .transactionAlreadyBound, mayFinish: false, securityEvent: .foreignToken))
        #expect(shop.submit(purchase, by: nil).announcements.count == 1, "a feed delivers to the token's owner")
        #expect(shop.balance() == 60)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == purchase.key)
        #expect(shop.submit(purchase, by: Shop.alice).answer?.status == .alreadyGranted)
    }

    @Test func `an unknown token counts as none, and the claim is marked (A-088 BR07)`() {
        var shop = shopWithOrders()
        _ = shop.submit(transaction("1", token: "99999999-9999-4999-8999-999999999999"), by: Shop.bob)
        #expect(shop.books.purchases[transaction("1").key]?.isClaimedByCaller == true)
        #expect(shop.balance(Shop.bob) == 60)
    }

    @Test func `where a token is required, a purchase without one waits and is not bound`() {
        var shop = Shop(requiresToken: true)
        let answer = shop.submit(transaction("1"), by: Shop.alice).answer
        #expect(answer?.status == .held && answer?.code == .appAccountTokenRequired && answer?.mayFinish == false)
        #expect(shop.books.purchases[transaction("1").key]?.owner == nil)
        #expect(shop.books.purchases[transaction("1").key]?.submitter == Shop.alice)
    }

    @Test func `a second purchase on one order is delivered through a sibling order (A-101)`() {
        var shop = shopWithOrders()
        _ = shop.submit(transaction("1", token: Shop.aliceToken), by: Shop.alice, order: OrderNumber("A1"))
        let second = shop.submit(transaction("2", token: Shop.aliceToken), by: Shop.alice, order: OrderNumber("A1"))
        #expect(second.answer?.status == .granted)
        let sibling = shop.books.orders[OrderNumber("IAP-sibling-2")]
        #expect(sibling?.siblingOf == OrderNumber("A1") && sibling?.deliveredBy == transaction("2").key)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == transaction("1").key)
        #expect(shop.balance() == 120)
    }

    @Test func `a token used for another product delivers what was paid, not the order`() {
        var shop = shopWithOrders()
        _ = shop.submit(transaction("1", Shop.minutes60, token: Shop.aliceToken), by: Shop.alice)
        #expect(shop.balance(Shop.alice, Shop.minutes) == 60)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == nil)
        #expect(shop.books.orders[OrderNumber("IAP-sibling-1")]?.productID == Shop.minutes60)
    }

    @Test func `a later signed token of somebody else freezes what is left`() {
        var shop = shopWithOrders()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        _ = shop.spend(10, id: "s1")
        _ = shop.submit(transaction("1", token: Shop.bobToken, signed: 1), by: nil)
        #expect(shop.balance() == 50)
        #expect(shop.spend(1, id: "s2").answer.code == .balanceNotEnough)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a purchase held for the sandbox policy is re-driven for whoever handed it in last`() {
        var shop = Shop(audience: .nobody)
        _ = shop.order("A1")
        let purchase = transaction("1", environment: .sandbox, token: Shop.aliceToken)
        _ = shop.submit(purchase, by: Shop.alice, order: OrderNumber("A1"))
        #expect(shop.books.purchases[purchase.key]?.submittedOrder == OrderNumber("A1"))
        shop.setCatalog(version: 2, audience: .everybody, products: Shop.products)
        #expect(shop.submit(purchase, by: Shop.alice, order: OrderNumber("A1")).answer?.status == .granted)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == purchase.key)
    }
}
