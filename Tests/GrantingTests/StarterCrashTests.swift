import AMQP
import Messages
import Pipeline
import TestSupport
import Testing

@testable import Granting

/// Starter offers at every place the lane that grants can die at. Part of that suite: one virtual host, one at a time.
extension GrantPurchasesCrashTests {
    @Test(arguments: LaneFault.allCases)
    func `of two accounts of one address one gets the starter pack, whatever dies (B-029 C1 to C8)`(fault: LaneFault)
        async throws
    {
        let definition = Shop.definition(products: StarterDecisionTests.products())
        let granting = try await GrantingStage.make(
            Topology.grantingPurchases, "starter_" + fault.rawValue, definition)
        try await onThread {
            let stage = granting.stage
            var messages: [OutgoingMessage] = []
            for (place, name) in ["a", "b", "c", "d"].enumerated() {
                for account in 1...2 {
                    messages.append(
                        try stage.request(
                            PurchaseVerified(
                                app: Shop.app, userID: UserID("\(name)\(account)"), orderNumber: nil,
                                transaction: transaction("\(place)\(account)", StarterDecisionTests.pack),
                                identities: [StarterDecisionTests.identity(Character(name))])))
                }
            }
            try stage.survive(fault, messages, fact: .purchaseGranted, handler: { GrantPurchases() }) {
                try granting.number("SELECT count(*) FROM granting.grants") == 4
                    && granting.number("SELECT count(*) FROM granting.transactions WHERE held_reason = 'ineligible'")
                        == 4
            }
            try granting.expectOrder()
            let claimed = "SELECT count(*) FROM granting.starter_claims JOIN granting.grants USING (transaction_id)"
            #expect(try granting.number(claimed) == 4)
            #expect(try granting.number("SELECT count(*) FROM granting.starter_claims") == 4)
            let granted = try stage.facts().identifiers(PurchaseGranted.self) { $0.transactionID.rawValue }
            #expect(granted.count == 4 && granted.values.allSatisfy { $0.count == 1 }, "each told, under one id")
        }
    }
}
