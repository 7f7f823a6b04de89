import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Cards for ever at every place a lane can die at: the refund of one delivers the next. Part of the suite of
/// notifications: one virtual host, one at a time.
extension ApplyNotificationsCrashTests {
    @Test(arguments: LaneFault.allCases)
    func `the refund of a card for ever delivers the one that waits, once, whatever dies (C-014 C1 to C8)`(
        fault: LaneFault
    ) async throws {
        let definition = Shop.definition(products: CardDecisionTests.products)
        let granting = try await GrantingStage.make(
            Topology.grantingNotifications, "cards_" + fault.rawValue, definition)
        try await onThread {
            let stage = granting.stage
            var messages: [OutgoingMessage] = []
            var session = try granting.granting.open()
            for user in 1...4 {
                let bought = (1...3).map { transaction("\(user)\($0)", CardDecisionTests.lifetime) }
                _ = try session.run(
                    GrantPurchases(), try bought.map { try verified($0, by: "user-\(user)") })
                let refund = transaction("\(user)1", CardDecisionTests.lifetime, signed: 5, revoked: 100_000)
                messages.append(try stage.request(notification(.refund, refund)))
            }
            try stage.survive(fault, messages, fact: .purchaseClawedBack, handler: { ApplyNotifications() }) {
                try granting.number("SELECT count(*) FROM granting.grants WHERE applied_share = 0") == 4
            }
            try granting.expectOrder()
            let waiting = "SELECT count(*) FROM granting.transactions WHERE held_reason = 'owned_permanently'"
            #expect(try granting.number(waiting) == 4)
            let granted = try stage.facts().identifiers(PurchaseGranted.self) { $0.transactionID.rawValue }
            #expect(granted.count == 4 && granted.values.allSatisfy { $0.count == 1 }, "each told, under one id")
        }
    }
}
