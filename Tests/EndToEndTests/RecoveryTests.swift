import AppStoreSimulation
import HTTPClient
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

/// Queues are emptied by hand: what was verified comes back, once.
@Suite(.serialized, .timeLimit(.minutes(8))) struct RecoveryTests {
    private static let product = "pyy_danbing_60"

    @Test func `whatever queue is emptied by hand, nothing verified is lost and nothing comes twice (R23)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation_purge")
        try await onThread {
            let books = Books(deployment: deployment)
            var anna = try deployment.backend("anna")
            // granting.purchases: verified, never decided.
            let purchases = try (1...3).map { _ in try deployment.purchase(Self.product, account: "anna") }
            #expect(deployment.stop(.granting) == .exit(0))
            for purchase in purchases { _ = try? anna.verify(purchase.signedTransactionInfo, orderNumber: nil) }
            try Self.purge(Topology.grantingPurchases, holding: 3, deployment)
            // granting.wallet: nobody was answered, so whoever asked asks again, under the same id.
            _ = try? deployment.spend(50, id: "lost-1", by: "anna")
            try Self.purge(Topology.grantingWallet, holding: 1, deployment)
            try deployment.start([.granting])
            for purchase in purchases {
                try eventually(within: .seconds(120), "it is granted") { try books.grants(purchase.transactionID) == 1 }
            }
            for _ in 1...2 { _ = try deployment.spend(50, id: "lost-1", by: "anna") }
            #expect(try anna.balance()["danbing"] == 130)
            // verification.purchases: nobody was answered; the client, which has not finished, sends it again.
            #expect(deployment.stop(.verification) == .exit(0))
            let unverified = try deployment.purchase(Self.product, account: "anna")
            _ = try? anna.verify(unverified.signedTransactionInfo, orderNumber: nil)
            try Self.purge(Topology.verificationPurchases, holding: 1, deployment)
            try deployment.start([.verification])
            #expect(try anna.verify(unverified.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            #expect(try anna.balance()["danbing"] == 190)
            try deployment.settle()
            try Self.expectClosed(deployment)
            try books.expectConsistent()
        }
    }

    @Test func `a refund whose notification was emptied out of a queue is taken back when it is told again (R23)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation_purge")
        try await onThread {
            let books = Books(deployment: deployment)
            var bert = try deployment.backend("bert")
            let bought = try (1...2).map { _ in try deployment.purchase(Self.product, account: "bert") }
            for purchase in bought {
                #expect(try bert.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            }
            let refunds = try bought.map { purchase in
                let uuid = UUIDText.random()
                let refunded = try deployment.store().refund(purchase.transactionID, environment: "Production")
                let signed = try deployment.notification(
                    "REFUND", uuid: uuid, transaction: refunded.signedTransactionInfo)
                return (uuid: uuid, signed: signed)
            }
            // granting.notifications: Intake has it, and tells it again.
            #expect(deployment.stop(.granting) == .exit(0))
            #expect(try deployment.send(refunds[0].signed) == 200)
            try Self.purge(Topology.grantingNotifications, holding: 1, deployment)
            // intake.notifications: nobody has it but Apple.
            #expect(deployment.stop(.intake) == .exit(0))
            #expect(try deployment.send(refunds[1].signed) == 200)
            try Self.purge(Topology.intakeNotifications, holding: 1, deployment)
            try deployment.start([.granting, .intake])
            #expect(try bert.balance()["danbing"] == 120, "nothing was taken back")
            let again = try deployment.run(
                "purser", ["notifications", "redrive", "--uuid", refunds[0].uuid, "--actor", "tests"],
                deployment.controlEnvironment)
            #expect(again.status == 0, "\(again.output)")
            #expect(try deployment.send(refunds[1].signed) == 200)
            try eventually("both are taken back") { try bert.balance()["danbing"] == 0 }
            for refund in refunds { #expect(try deployment.send(refund.signed) == 200) }
            try eventually("they came again") { try deployment.arrivals(refunds[1].uuid).times == 2 }
            try eventually("and nothing happened") {
                try deployment.messages(in: Topology.grantingNotifications.name) == 0
            }
            #expect(
                try books.number(
                    """
                    SELECT count(*) FROM granting.ledger JOIN granting.customers USING (customer)
                    WHERE user_id = 'bert' AND source_type = 'APPLE_REFUND'
                    """, []) == 2)
            try deployment.settle()
            try books.expectConsistent()
        }
    }

    // MARK: - Doing it

    private static func purge(_ queue: Topology.Queue, holding count: Int, _ deployment: Deployment) throws {
        try eventually("\(queue.name) holds them") { try deployment.messages(in: queue.name) == count }
        try deployment.purge(queue)
    }

    private static func expectClosed(_ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        try eventually(within: .seconds(60), "every case about a purchase is closed") {
            try books.number(
                "SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved' AND kind LIKE 'purchase%'", [])
                == 0
        }
    }
}
