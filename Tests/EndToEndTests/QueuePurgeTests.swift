import AMQP
import AppStoreSimulation
import JOSE
import JSON
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

/// Every queue of the topology is emptied by hand with something in it, one after the other, in one deployment.
@Suite(.serialized, .timeLimit(.minutes(10))) struct QueuePurgeTests {
    private static let product = "pyy_danbing_60"
    private static let wait = Duration.seconds(90)

    @Test func `whichever queue is purged by hand, with whatever is in it: nothing is lost, nothing comes twice (R23)`()
        async throws
    {
        let deployment = try await Deployment.shared("recovery_purge")
        try await onThread {
            try deployment.connectToApple()
            let queues = try Self.queues()
            let parked = Topology.workQueues.count
            #expect(queues.count == Topology.queues.count + parked + Topology.RetryDelay.allCases.count)
            let insider = try Insider(deployment)
            for queue in queues { try Self.purge(queue, insider, deployment) }
            try Self.expectWhole(deployment)
        }
    }

    // MARK: - Which

    /// A queue of the definitions that a broker is given, as they are written down.
    private struct Named: Sendable {
        let name: String

        /// Whose messages it holds; nil where nobody consumes it.
        var consumer: Deployment.Service? {
            guard !name.hasSuffix(".parked") else { return nil }
            return Deployment.Service(rawValue: String(name.prefix { $0 != "." }))
        }
    }

    /// All that can be purged: a stream cannot (its loss: BrokerLossTests).
    private static func queues() throws -> [Named] {
        let definitions = try JSONReader.parseObject(try Topology.definitions(passwordHashes: [:]))
        let listed = try #require(definitions["queues"]?.arrayValue).compactMap(\.objectValue)
        return try listed.filter {
            $0["arguments"]?.objectValue?["x-queue-type"]?.stringValue != "stream"
        }.map { Named(name: try $0.string("name")) }
    }

    // MARK: - One queue

    /// What a user did around a purge.
    private struct Acts {
        let user: String
        let order: BackendClient.Order
        /// Bought before, refunded during the outage.
        let refunded: SignedPurchase
        /// Bought during the outage: by an order, whose token names the buyer; and without one.
        var ordered: SignedPurchase?
        var plain: SignedPurchase?
    }

    private static func purge(_ queue: Named, _ insider: Insider, _ deployment: Deployment) throws {
        var acts = try prepare(queue.name, deployment)
        if let consumer = queue.consumer {
            #expect(deployment.stop(consumer) == .exit(0), "\(queue.name)")
        }
        try act(&acts, deployment)
        try insider.publish(try contents(of: queue.name, acts, insider))
        try eventually(within: wait, "\(queue.name) holds something") {
            var inspector = try Inspector.open(insider.endpoint, connectionName: "purge")
            defer { inspector.close() }
            return (try inspector.queue(queue.name)?.messages ?? 0) > 0
        }
        _ = try Command.run(
            deployment.platform.controlScript, ["purge_queue", "-p", deployment.virtualHost, queue.name])
        if let consumer = queue.consumer { try deployment.start([consumer]) }
        try expectBack(acts, queue.name, deployment)
    }

    private static func prepare(_ queue: String, _ deployment: Deployment) throws -> Acts {
        let user = "user-\(queue)"
        var client = try deployment.backend(user)
        var giver = try deployment.backend("giver-\(queue)")
        let refunded = try deployment.purchase(product, account: user)
        #expect(try giver.verify(refunded.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        let kept = try deployment.purchase(product, account: user)
        #expect(try client.verify(kept.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
        return Acts(user: user, order: try client.order(product), refunded: refunded)
    }

    /// What people and Apple do while somebody is away: nobody waits for an answer.
    private static func act(_ acts: inout Acts, _ deployment: Deployment) throws {
        var client = try impatient(acts.user, deployment)
        let ordered = try deployment.purchase(product, account: acts.user, token: acts.order.appAccountToken)
        _ = try? client.verify(ordered.signedTransactionInfo, orderNumber: acts.order.number)
        let plain = try deployment.purchase(product, account: acts.user)
        _ = try? client.verify(plain.signedTransactionInfo, orderNumber: nil)
        _ = try? client.balance()
        var server = try BackendClient(
            base: deployment.gateway, token: try deployment.serverToken(), timeout: .milliseconds(500))
        _ = try? server.send("POST", "/api/wallet/consume", spend(acts.user))
        _ = try deployment.store().refund(acts.refunded.transactionID, environment: "Production")
        (acts.ordered, acts.plain) = (ordered, plain)
    }

    private static func spend(_ user: String) -> JSONObject {
        [
            "userId": .string(user), "assetType": "DANBING", "amount": 30, "sourceId": .string("spend-\(user)"),
            "deadline": "2099-01-01T00:00:00Z",
        ]
    }

    private static func impatient(_ user: String, _ deployment: Deployment) throws -> BackendClient {
        try BackendClient(
            base: deployment.gateway, token: try deployment.loginToken(user), timeout: .milliseconds(500))
    }

    /// What else is in the queue: of what operators and services say, something that may be lost.
    private static func contents(of queue: String, _ acts: Acts, _ insider: Insider) throws -> [OutgoingMessage] {
        let plain = try #require(acts.plain)
        let submitted = PurchaseSubmitted(
            app: AppID("cloudpc"), userID: UserID(acts.user), orderNumber: nil,
            signedTransaction: plain.signedTransactionInfo)
        if queue.hasSuffix(".parked") {
            var message = try insider.message(submitted)
            message.exchange = Topology.parked
            message.routingKey = String(queue.dropLast(".parked".count))
            return [message]
        }
        if let delay = Topology.RetryDelay.allCases.first(where: { queue == "retry.\($0.rawValue)" }) {
            var message = try insider.message(submitted)
            message.exchange = Topology.retry
            message.routingKey = delay.routingKey(for: Topology.verificationPurchases.name)
            return [message]
        }
        return try request(for: queue, plain, submitted, acts, insider).map { [$0] } ?? []
    }

    /// A word of an operator or of a service; nil for a queue that buyers' acts fill.
    private static func request(
        for queue: String, _ plain: SignedPurchase, _ submitted: PurchaseSubmitted, _ acts: Acts, _ insider: Insider
    ) throws -> OutgoingMessage? {
        switch queue {
        case Topology.verificationCommands.name:
            try insider.message(
                EvidenceRedriveRequested(
                    environment: .production, transactionID: TransactionID(acts.refunded.transactionID),
                    actor: "tests", reason: "tests"))
        case Topology.verificationRevocations.name:
            try insider.message(
                ChainCheckRequested(leaf: try chain(of: plain)[0], intermediate: try chain(of: plain)[1]))
        case Topology.verificationReceipts.name:
            try insider.message(
                ReceiptCheckRequested(submitted, submission: MessageID(UUIDText.random()), at: 1, reason: "tests"))
        case Topology.grantingCommands.name:
            try insider.message(
                PurchaseRedriveRequested(
                    transactionID: TransactionID(acts.refunded.transactionID), environment: .production))
        case Topology.intakeCommands.name:
            try insider.message(
                NotificationRedriveRequested(
                    notificationUUIDs: [UUIDText.random()], environment: nil, notificationTypes: [], actor: "tests",
                    isDryRun: false))
        case Topology.intakeRevocations.name:
            try insider.message(
                ChainChecked(
                    chain: "00ff", subject: "/CN=tests", serialNumber: "1", leafAsOf: 1, intermediateAsOf: 1,
                    answerEnds: 2, checkAgainAt: 2))
        case Topology.reconciliationCommands.name:
            try insider.message(FindingAcceptRequested(finding: 1_000_000, actor: "tests", reason: "tests"))
        case Topology.reconciliationLookups.name:
            try insider.message(AppleOrderRequested(orderID: "MK5TTTVWJH"))
        default: nil
        }
    }

    /// The certificates in the header of what Apple signed, as text.
    private static func chain(of purchase: SignedPurchase) throws -> [String] {
        let header = purchase.signedTransactionInfo.split(separator: ".")[0]
        let object = try JSONReader.parseObject(try #require(Base64URL.decode(String(header))))
        return try #require(object["x5c"]?.arrayValue).compactMap(\.stringValue)
    }

    // MARK: - Afterwards

    /// Clients send again what they have not finished and nobody else; everything else comes back by itself.
    private static func expectBack(_ acts: Acts, _ queue: String, _ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        let (ordered, plain) = (try #require(acts.ordered), try #require(acts.plain))
        var client = try deployment.backend(acts.user)
        let answer = try client.verify(plain.signedTransactionInfo, orderNumber: nil)
        #expect(["GRANTED", "ALREADY_GRANTED"].contains(answer.status), "\(queue)")
        var server = try deployment.serverBackend()
        for _ in 1...2 { _ = try server.send("POST", "/api/wallet/consume", spend(acts.user)) }
        try eventually(within: wait, "\(queue): the order's purchase is granted") {
            try books.grants(ordered.transactionID) == 1
        }
        try eventually(within: wait, "\(queue): the refund is taken back") {
            try books.balances("giver-\(queue)") == ["DANBING": 0]
        }
        #expect(try client.balance()["danbing"] == 3 * 60 - 30, "\(queue)")
    }

    /// Every case about a purchase is closed, nothing is parked, and the books add up.
    private static func expectWhole(_ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        try eventually(within: wait, "every case is closed") {
            try books.number(
                """
                (SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved')
                    + (SELECT count(*) FROM reconciliation.apple_feeds)
                """, []) == 0
        }
        try deployment.settle()
        try books.expectConsistent()
    }
}
