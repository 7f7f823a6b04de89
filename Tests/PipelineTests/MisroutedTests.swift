import AMQP
import Messages
import TestSupport
import Testing

@testable import Pipeline

/// A message is only what its sender may say: the key it came with tells, since the broker checked that one.
@Suite(.serialized) struct MisroutedTests {
    private static let type = MessageType.spendRequested.rawValue

    private func read(_ exchange: String, _ key: String, type: String = MisroutedTests.type) -> String? {
        let properties = MessageProperties(
            messageID: UUIDText.random(), type: type, headers: [HeaderName.schemaVersion: 1])
        let delivery = Delivery(
            tag: 1, exchange: exchange, routingKey: key, isRedelivered: false, properties: properties, body: [])
        switch Envelope.read(delivery, from: Topology.grantingWallet) {
        case .success: return nil
        case .failure(let malformed): return malformed.rawValue
        }
    }

    @Test(arguments: [
        ("purser.from.gateway", "spend.requested"), ("purser.return", "5s.granting.wallet"),
        ("purser.return", "30s.granting.wallet"), ("purser.return", "5m.granting.wallet"),
        ("purser.return", "1h.granting.wallet"),
    ])
    func `what came on one of the ways of its queue is read`(exchange: String, key: String) {
        #expect(read(exchange, key) == nil)
    }

    @Test(arguments: [
        // By a second key in CC: the first one is shown.
        ("purser.from.gateway", "purchase.submitted"), ("purser.from.gateway", "order.requested"),
        ("purser.return", "5s.verification.purchases"), ("purser.return", "5s.granting.commands"),
        // By an exchange of somebody who may not say it.
        ("purser.from.control", "spend.requested"), ("purser.from.granting", "spend.requested"),
        ("gateway.replies.x", "spend.requested"), ("", "granting.wallet"), ("amq.topic", "spend.requested"),
        ("purser.return", "spend.requested"), ("purser.return", "6s.granting.wallet"),
        ("purser.retry", "5s.granting.wallet"),
    ])
    func `what came by another way is parked (S47)`(exchange: String, key: String) {
        #expect(read(exchange, key) == "message.misrouted")
    }

    @Test func `a message forwarded to another's queue by the header CC is parked there (S47)`() async throws {
        let stage = try await LaneStage.make(
            suite: "misrouted", name: "lane", queue: Topology.grantingCommands, script: LaneFixture.schema)
        try await onThread {
            var message = try stage.request(
                PurchaseRedriveRequested(transactionID: TransactionID("forged"), environment: .sandbox))
            message.exchange = Topology.retry
            // What verification may say there, and a key it may not.
            message.routingKey = Topology.RetryDelay.seconds5.routingKey(for: Topology.verificationPurchases.name)
            message.properties.headers["CC"] = .array([
                .string(Topology.RetryDelay.seconds5.routingKey(for: stage.queue.name))
            ])
            try stage.publish([message])
            try stage.run(handler: { CountingHandler() }, until: { try stage.depth(stage.queue.parkedName) == 1 })
            #expect(try stage.parkedReasons() == ["message.misrouted"])
        }
    }
}
