import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Every place the lane that applies notifications can die at, on real parts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ApplyNotificationsCrashTests {
    /// Four customers with an order each. Of each purchase come its charge, a refund of 40 % under two UUIDs, one of the
    /// whole and its reversal, and a refund that a client's spend has made a debt of comes for a purchase of before.
    private struct Story {
        var messages: [OutgoingMessage] = []

        init(_ granting: GrantingStage) throws {
            for number in 1...4 {
                let story = NotificationStory(id: "\(number)", token: RandomHistory.uuid(4, number).rawValue)
                for event in NotificationStory.Event.allCases {
                    guard let type = story.type(event) else { continue }
                    for _ in 0...(event == .refund40 ? 1 : 0) {
                        messages.append(
                            try granting.stage.request(notification(type, story.statement(event))))
                    }
                }
                let spent = transaction("9\(number)", signed: 1, revoked: 100_000, hash: "01")
                messages.append(try granting.stage.request(notification(.refund, spent)))
            }
            messages.append(try granting.stage.request(notification(.test, nil)))
        }
    }

    /// Orders, and purchases that are spent before Apple says a word.
    private static func prepare(_ granting: GrantingStage) throws {
        var session = try granting.granting.open()
        for number in 1...4 {
            let request = OrderRequested(
                app: Shop.app, userID: UserID("user\(number)"), productID: Shop.coins60,
                orderNumber: OrderNumber("A\(number)"), appAccountToken: RandomHistory.uuid(4, number).rawValue)
            _ = try session.run(DecideWallet(), [try message(request)])
            let bought = try verified(transaction("9\(number)"), by: "user\(number)")
            _ = try session.run(GrantPurchases(), [bought])
            _ = try session.run(DecideWallet(), [try spending(60, id: "s", by: "user\(number)")])
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `each refund takes once and each charge grants once, told under one id, whatever dies (C1 C2 C3 C4 C7 C8)`(
        fault: LaneFault
    ) async throws {
        let granting = try await GrantingStage.make(Topology.grantingNotifications, fault.rawValue)
        try await onThread {
            try Self.prepare(granting)
            let story = try Story(granting)
            try granting.stage.survive(
                fault, story.messages, fact: .purchaseClawedBack, handler: { ApplyNotifications() }
            ) {
                try granting.number("SELECT count(*) FROM granting.refund_statements") == 20
                    && granting.number("SELECT count(*) FROM granting.grants") == 8
            }
            try granting.expectOrder()
            let total = try granting.number(
                """
                SELECT sum(balance) - (SELECT sum(amount - settled) FROM granting.debts) FROM granting.accounts
                """)
            #expect(total == 4 * (42 - 60), "60 less 30 % of each, and 60 spent of a refunded one")
            let facts = try granting.stage.facts()
            let granted = try facts.identifiers(PurchaseGranted.self) { $0.transactionID.rawValue }
            #expect(granted.count == 4 && granted.values.allSatisfy { $0.count == 1 })
            let taken = try facts.identifiers(PurchaseClawedBack.self) { "\($0.transactionID)/\($0.revision)" }
            #expect(taken.values.allSatisfy { $0.count == 1 })
            let changes = try granting.number("SELECT sum(revision) FROM granting.grants")
            #expect(Int64(taken.count) == changes, "each change told, under one id")
            let flags = try facts.identifiers(RiskFlagged.self) { "\($0.transactionID)/\($0.revision)" }
            #expect(try Int64(flags.count) == granting.number("SELECT count(*) FROM granting.risk_flags"))
        }
    }
}
