import AppStoreSimulation
import Messages
import Postgres
import TestSupport
import Testing

/// A broker whose disk is gone, under services that run on: nothing of what people paid or got back goes with it.
@Suite(.serialized, .timeLimit(.minutes(8))) struct BrokerLossTests {
    private static let product = "pyy_danbing_60"
    private static let wait = Duration.seconds(120)

    @Test
    func `the broker's files are lost, queues and stream: all comes back, once, refunds too (R23)`()
        async throws
    {
        try await Self.onOwnPlatform("recovery_broker") { platform, deployment in
            let books = Books(deployment: deployment)
            var anna = try deployment.backend("anna")
            try deployment.connectToApple()
            let refunded = try (1...2).map { _ in try Self.deliver(&anna, deployment) }
            try deployment.settle()
            let lost = try Self.fillQueues(&anna, refunded, deployment)
            try platform.loseBroker()
            // They find a broker that knows neither them nor their queues, and wait until it does.
            for service in Deployment.Service.purser { deployment.thaw(service) }
            try deployment.launch(.reconciliation)
            try platform.declareTopology(
                virtualHost: deployment.virtualHost, password: deployment.secrets.brokerPassword)
            for service in Deployment.Service.purser { try deployment.waitUntilReady(service) }
            try Self.expectBack(lost, deployment)
            // What happens from now on is as ever, and the journal follows the new stream.
            let after = try Self.deliver(&anna, deployment)
            try eventually(within: Self.wait, "the journal has what came after") {
                try books.number(
                    "SELECT count(*) FROM reconciliation.journal WHERE transaction_id = $1 AND type = 'purchase.granted'",
                    [.text(after.transactionID)]) == 1
            }
            #expect(
                try books.number(
                    "SELECT count(*) FROM reconciliation.findings WHERE kind = 'stream_replaced' AND state = 'open'", []
                )
                    == 1)
            for service in Deployment.Service.purser {
                #expect(deployment.process(service)?.ended == nil, "\(service.rawValue) had to be restarted")
            }
            // Nobody can read this copy any more, and nobody misses it.
            #expect(
                try books.number(
                    "SELECT count(*) FROM reconciliation.journal WHERE transaction_id = $1 AND type = 'purchase.granted'",
                    [.text(lost.unread.transactionID)]) == 0)
            #expect(try anna.balance()["danbing"] == 7 * 60)
            try Self.expectWhole(deployment)
        }
    }

    @Test func `purchases that flow while the broker's data directory is lost are granted once each (R23)`()
        async throws
    {
        try await Self.onOwnPlatform("reconciliation_flow") { platform, deployment in
            let load = PurchaseLoad.start(on: deployment, minimum: 80, seed: 7)
            for _ in 1...2 {
                try load.waitForMore(15)
                try platform.loseBroker()
                try platform.declareTopology(
                    virtualHost: deployment.virtualHost, password: deployment.secrets.brokerPassword)
            }
            try load.waitForMore(15)
            let bought = try load.finish()
            #expect(bought.count >= 80)
            for service in Deployment.Service.purser {
                #expect(deployment.process(service)?.ended == nil, "\(service.rawValue) had to be restarted")
            }
            try eventually(within: Self.wait, "every fact is announced and every case about a purchase closed") {
                try Books(deployment: deployment).number(
                    """
                    (SELECT count(*) FROM granting.unannounced) + (SELECT count(*) FROM verification.unannounced)
                        + (SELECT count(*) FROM reconciliation.findings
                            WHERE state <> 'resolved' AND kind LIKE 'purchase%')
                    """, []) == 0
            }
            try expectEachGrantedOnce(bought, on: deployment)
        }
    }

    // MARK: - What is lost

    /// What a broker had when it was lost.
    private struct Lost {
        /// Granted; its fact is in the stream, and the journal has not read it.
        let unread: SignedPurchase
        /// Verified, and waiting to be decided.
        let verified: [SignedPurchase]
        /// Handed in and answered "later": not verified. Its token tells whose it is.
        let ordered: SignedPurchase
        /// The same without a token: the client, which has not finished it, is the only witness.
        let plain: SignedPurchase
        /// Refunds: one Intake knows, one nobody but Apple.
        let refunded: [SignedPurchase]
    }

    /// Everything a broker can have in it: each service stands still before what it is to do, and nobody reads the stream.
    private static func fillQueues(
        _ anna: inout BackendClient, _ refunded: [SignedPurchase], _ deployment: Deployment
    ) throws -> Lost {
        let books = Books(deployment: deployment)
        let order = try anna.order(product)
        try deployment.settle()
        deployment.crash(.reconciliation)
        let unread = try deliver(&anna, deployment)
        try eventually("its fact is in the stream") {
            try books.number("SELECT count(*) FROM granting.unannounced", []) == 0
        }
        deployment.freeze(.granting)
        let verified = try (1...3).map { _ in try deployment.purchase(product, account: "anna") }
        for purchase in verified { try expectLater(&anna, purchase) }
        let told = try deployment.store().refund(refunded[0].transactionID, environment: "Production")
        try eventually("what was verified and what was told waits to be decided") {
            try deployment.messages(in: Topology.grantingPurchases.name) == 3
                && books.number(
                    "SELECT count(*) FROM intake.notifications WHERE type = 'REFUND' AND transaction_id = $1",
                    [.text(told.transactionID)]) == 1
                && deployment.messages(in: Topology.grantingNotifications.name) >= 4
        }
        deployment.freeze(.verification)
        deployment.freeze(.intake)
        let ordered = try deployment.purchase(product, account: "anna", token: order.appAccountToken)
        try expectLater(&anna, ordered, order.number)
        let plain = try deployment.purchase(product, account: "anna")
        try expectLater(&anna, plain)
        _ = try deployment.store().refund(refunded[1].transactionID, environment: "Production")
        try eventually("what was handed in waits to be verified, and what Apple told to be stored") {
            try deployment.messages(in: Topology.verificationPurchases.name) == 2
                && deployment.messages(in: Topology.intakeNotifications.name) == 3
        }
        return Lost(unread: unread, verified: verified, ordered: ordered, plain: plain, refunded: refunded)
    }

    private static func expectBack(_ lost: Lost, _ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        for purchase in lost.verified + [lost.ordered] {
            try eventually(within: wait, "\(purchase.transactionID) is granted") {
                try books.grants(purchase.transactionID) == 1
            }
        }
        var anna = try deployment.backend("anna")
        #expect(try anna.verify(lost.plain.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        for purchase in lost.verified + [lost.ordered, lost.plain, lost.unread] {
            #expect(try anna.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "ALREADY_GRANTED")
        }
        for purchase in lost.refunded {
            try eventually(within: wait, "the refund of \(purchase.transactionID) is taken back") {
                try books.number(
                    """
                    SELECT count(*) FROM granting.ledger
                    WHERE source_type = 'APPLE_REFUND' AND source_id LIKE $1 || '/%'
                    """, [.text(purchase.transactionID)]) == 1
            }
        }
    }

    // MARK: - Doing it

    private static func onOwnPlatform(
        _ name: String, _ body: @escaping @Sendable (Platform, Deployment) throws -> Void
    ) async throws {
        try await onThread {
            let platform = try Platform.own(name)
            defer { try? platform.stop() }
            let deployment = try Deployment.start(name, on: platform)
            defer { deployment.remove() }
            try body(platform, deployment)
        }
    }

    /// A purchase of anna's that was granted.
    private static func deliver(_ anna: inout BackendClient, _ deployment: Deployment) throws -> SignedPurchase {
        let purchase = try deployment.purchase(product, account: "anna")
        #expect(try anna.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        return purchase
    }

    /// It is handed in, and whoever should answer stands still.
    private static func expectLater(
        _ anna: inout BackendClient, _ purchase: SignedPurchase, _ orderNumber: String? = nil
    ) throws {
        let error = #expect(throws: BackendError.self) {
            try anna.verify(purchase.signedTransactionInfo, orderNumber: orderNumber)
        }
        #expect(error?.code == "PURCHASE_PENDING")
    }

    /// Every case about a purchase is closed, nothing is parked, and the books add up.
    private static func expectWhole(_ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        try eventually(within: wait, "every case is closed but the one that tells of the stream") {
            try books.number(
                """
                (SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved' AND kind <> 'stream_replaced')
                    + (SELECT count(*) FROM granting.unannounced) + (SELECT count(*) FROM verification.unannounced)
                    + (SELECT count(*) FROM intake.unannounced) + (SELECT count(*) FROM reconciliation.apple_feeds)
                """, []) == 0
        }
        #expect(try books.number("SELECT count(*) - count(DISTINCT transaction_id) FROM granting.grants", []) == 0)
        try books.expectConsistent()
    }
}
