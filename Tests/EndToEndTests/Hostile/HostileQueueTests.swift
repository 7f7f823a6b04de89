import AMQP
import AppStoreSimulation
import Glibc
import Messages
import Pipeline
import TestSupport
import Testing

/// What comes out of a queue is not believed either: every kind of damage, on every queue, against the real services.
///
/// Promised is that poison is parked within a second; a busy test machine gets ``patience``.
@Suite(.timeLimit(.minutes(10))) struct HostileQueueTests {
    private static let patience = Duration.seconds(60)
    static let workQueues = [
        "verification.purchases", "granting.purchases", "granting.wallet", "granting.commands",
        "granting.notifications", "intake.notifications", "intake.commands", "intake.revocations",
        "verification.revocations", "verification.commands", "verification.receipts",
        "reconciliation.commands",
    ]

    private static func queue(_ name: String) throws -> Topology.Queue {
        try #require(Topology.queues.first { $0.name == name })
    }

    /// A message of the queue with nothing wrong about it, about something new.
    private static func good(_ name: String, _ insider: Insider) throws -> OutgoingMessage {
        switch name {
        case "verification.purchases":
            let purchase = try insider.deployment.purchase("pyy_danbing_60", account: "hostile-base")
            return try insider.message(
                PurchaseSubmitted(
                    app: AppID("cloudpc"), userID: UserID("hostile-base"), orderNumber: nil,
                    signedTransaction: purchase.signedTransactionInfo))
        case "granting.purchases": return try insider.message(HostileValues.purchase(newID()))
        case "granting.wallet": return try insider.message(HostileValues.spend())
        case "intake.notifications":
            return try insider.message(
                NotificationReceived(
                    app: AppID("cloudpc"), signedPayload: try insider.deployment.notification("TEST")))
        case "granting.notifications": return try insider.message(HostileValues.told(newID()))
        case "intake.revocations": return try insider.message(HostileValues.checked())
        case "verification.commands":
            return try insider.message(
                EvidenceEraseRequested(erasure: MessageID(UUIDText.random()), after: 0, last: 0))
        case "verification.revocations": return try insider.message(HostileValues(insider: insider).chain())
        case "verification.receipts": return try insider.message(HostileValues.unjudged())
        case "reconciliation.commands": return try insider.message(HostileValues.accept())
        case "intake.commands":
            return try insider.message(
                NotificationRedriveRequested(
                    notificationUUIDs: [UUIDText.random()], environment: nil, notificationTypes: [], actor: "hostile",
                    isDryRun: false))
        default:
            return try insider.message(
                PurchaseRedriveRequested(transactionID: TransactionID(newID()), environment: .production))
        }
    }

    private static func newID() -> String { String(UInt64.random(in: 8_000_000_000_000_000...8_999_999_999_999_999)) }

    @Test(arguments: workQueues)
    func `what is no message of its queue is parked with its reason, soon, and nothing else is (R08)`(name: String)
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            let queue = try Self.queue(name)
            try insider.clear()
            let pids = deployment.pids()
            var expected: [String: Poison] = [:]
            var messages: [OutgoingMessage] = []
            let good = try Self.good(name, insider)
            for poison in Poison.properties + Poison.replyAddresses + Poison.bodies {
                var message = good
                message.properties.messageID = UUIDText.random()
                let correlation = UUIDText.random()
                message.properties.correlationID = correlation
                poison.apply(&message)
                expected[correlation] = poison
                messages.append(message)
            }
            let began = ContinuousClock.now
            try insider.publish(messages + [good])
            let parked = try insider.parked(of: queue, count: messages.count)
            for one in parked {
                let poison = expected.removeValue(forKey: one.correlationID ?? "")
                #expect(poison != nil, "parked though nothing was wrong, or twice: \(one.reason)")
                #expect(one.reason == poison?.reason, "\(poison?.name ?? "")")
            }
            #expect(expected.values.map(\.name) == [], "never parked")
            let slowest = parked.map { began.duration(to: $0.at) }.max() ?? .zero
            #expect(slowest < Self.patience)
            deployment.note("\(name): \(parked.count) poisoned messages parked within \(slowest)")
            try insider.expectEmpty(queue)
            #expect(deployment.pids() == pids, "no process died")
        }
    }

    @Test(arguments: workQueues)
    func `hostile values are decided or parked with their reason, none harms another (R08, S40)`(name: String)
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            let queue = try Self.queue(name)
            try insider.clear()
            let pids = deployment.pids()
            let values = HostileValues(insider: insider)
            let examples: [HostileValues.Example] =
                switch name {
                case "verification.purchases":
                    try values.submissions(
                        (0..<6).map { _ in
                            try deployment.purchase("pyy_danbing_60", account: "hostile-sender").signedTransactionInfo
                        })
                case "granting.purchases": try values.purchases()
                case "granting.wallet": try values.wallet()
                case "intake.notifications": try values.notifications()
                case "intake.commands": try values.redrives()
                case "granting.notifications": try values.tellings()
                case "intake.revocations": try values.answers()
                case "verification.revocations": try values.chains()
                case "verification.commands": try values.erasures() + values.evidenceCommands()
                case "verification.receipts": try values.unjudgedReceipts()
                case "reconciliation.commands": try values.findingCommands()
                default: try values.commands()
                }
            let tables = try Books(deployment: deployment).tables()
            try insider.publish(examples.map(\.message) + [try Self.good(name, insider)])
            let bad = examples.filter { $0.reason != nil }
            let parked = try insider.parked(of: queue, count: bad.count)
            var names = Dictionary(uniqueKeysWithValues: examples.map { ($0.message.properties.correlationID, $0) })
            for one in parked {
                let example = names.removeValue(forKey: one.correlationID)
                let isExpected = example?.reason.map { one.reason.hasPrefix($0) } ?? false
                #expect(isExpected, "\(example?.name.prefix(60) ?? "nobody's") was parked: \(one.reason)")
            }
            let missing = names.values.filter { $0.reason != nil }.map { String($0.name.prefix(60)) }
            #expect(missing == [], "never parked")
            try insider.expectEmpty(queue)
            #expect(deployment.pids() == pids, "no process died")
            #expect(try Books(deployment: deployment).tables() == tables)
            #expect(try Books(deployment: deployment).wrongAccounts() == 0)
        }
    }

    @Test(arguments: workQueues)
    func `of a hundred messages delivered together the poisoned one is parked and 99 are decided (R26)`(name: String)
        async throws
    {
        let deployment = try await Deployment.shared("hostile")
        try await onThread {
            let insider = try Insider(deployment)
            let queue = try Self.queue(name)
            try insider.clear()
            let service = insider.service(of: queue)
            // All of them wait in the broker before the first is looked at.
            var messages = try (0..<99).map { _ in try Self.good(name, insider) }
            var poisoned = messages[0]
            poisoned.properties.messageID = UUIDText.random()
            poisoned.body = Array("garbage".utf8)
            messages.insert(poisoned, at: 37)
            let before = try insider.done(queue)
            deployment.process(service)?.send(SIGSTOP)
            do {
                defer { deployment.process(service)?.send(SIGCONT) }
                try insider.publish(messages)
            }
            let parked = try insider.parked(of: queue, count: 1)
            #expect(parked.map(\.reason) == [Poison.unreadable])
            try insider.expectEmpty(queue)
            try eventually("99 are done") { try insider.done(queue) - before == 99 }
            let causes = messages.filter { $0.body != poisoned.body }.compactMap(\.properties.messageID)
            if let effects = try Books(deployment: deployment).effects(on: name, of: causes) { #expect(effects == 99) }
        }
    }
}
