import AMQP
import Messages
import TestSupport
import Testing

@testable import Control
@testable import Granting

/// A verified purchase that is not decided on yet: in a queue it is in question, in none it is lost.
@Suite(.timeLimit(.minutes(5))) struct AuditQueueTests {
    /// The topology with user `control` and its real permissions; its URL.
    private static func control(_ name: String) async throws -> (broker: TestBroker, url: String) {
        let broker = try await TestBroker.shared("audit_\(name)")
        return try await onThread {
            let definitions = try Topology.definitions(
                virtualHost: broker.virtualHost,
                passwordHashes: ["control": try TopologyCommand.passwordHash("audit-test")])
            try broker.importDefinitions(String(decoding: definitions, as: UTF8.self))
            let endpoint = broker.endpoint
            return (broker, "amqp://control:audit-test@\(endpoint.host):\(endpoint.port)/\(endpoint.virtualHost)")
        }
    }

    @Test func `what is verified and not decided is lost, in question, or decided (INV2 INV7)`() async throws {
        let (broker, url) = try await Self.control("queues")
        let audited = try await AuditedDatabase.make("queues")
        try await onThread {
            let settings = ["PURSER_CONTROL_AMQP_URL": url]
            let waiting = try audited.verify(
                [AuditedDatabase.statement("1"), AuditedDatabase.statement("2")], by: AuditedDatabase.alice)
            #expect(audited.audit(settings: settings).code == 0, "within the grace it is under way")

            let lost = audited.audit("--grace", "0", settings: settings)
            #expect(lost.code == 1)
            #expect(
                lost.lines.contains { $0.contains("FAIL  purchases.seen  2 verified") && $0.contains("at least 2") })

            let message = OutgoingMessage(
                exchange: Topology.exchange(of: "verification"), routingKey: "purchase.verified",
                properties: MessageProperties(type: "purchase.verified"), body: Array("{}".utf8))
            _ = try broker.publish([message])
            let one = audited.audit("--grace", "0", settings: settings)
            #expect(
                one.code == 1 && one.lines.contains { $0.contains("at least 1") }, "one may wait, the other is lost")
            #expect(one.lines.contains("queues: granting.purchases 1"))

            let parked = OutgoingMessage(
                exchange: Topology.parked, routingKey: Topology.grantingPurchases.name,
                properties: MessageProperties(type: "purchase.verified"), body: Array("{}".utf8))
            _ = try broker.publish([parked])
            let both = audited.audit("--grace", "0", settings: settings)
            #expect(both.code == 0, "\(both.lines.suffix(6))")
            #expect(both.lines.contains { $0.contains("not decided on; the queues hold up to 2 of them") })
            #expect(both.lines.contains { $0.contains("environment Production; transaction_id 2; verified ") })

            _ = try audited.decide(waiting, by: GrantPurchases())
            let decided = audited.audit("--grace", "0", settings: settings)
            #expect(decided.code == 0 && decided.lines.contains { $0.hasPrefix("ok    purchases.seen") })
        }
    }

    @Test func `what Apple told and Granting has not seen is lost, in question, or seen (INV2 INV7)`() async throws {
        let (broker, url) = try await Self.control("told")
        let audited = try await AuditedDatabase.make("told")
        try await onThread {
            let settings = ["PURSER_CONTROL_AMQP_URL": url]
            let statement = AuditedDatabase.statement("1")
            let waiting =
                try audited.notify(try AuditedDatabase.notification("ONE_TIME_CHARGE", 1, statement))
                + audited.notify(try AuditedDatabase.notification("TEST", 2))
                + audited.notify(try AuditedDatabase.notification("SOMETHING_NEW", 3, statement))
            #expect(audited.audit(settings: settings).code == 0, "within the grace it is under way")
            let lost = audited.audit("--grace", "0", settings: settings)
            #expect(lost.code == 1, "\(lost.lines)")
            #expect(
                lost.lines.contains {
                    $0.contains("FAIL  notifications.seen  1 told notification(s) not decided on, at least 1")
                }, "what says nothing of a purchase, or what no version knows, is nothing to be seen")
            let message = OutgoingMessage(
                exchange: Topology.parked, routingKey: Topology.grantingNotifications.name,
                properties: MessageProperties(type: "notification.one_time_charge"), body: Array("{}".utf8))
            _ = try broker.publish([message])
            let parked = audited.audit("--grace", "0", settings: settings)
            #expect(parked.code == 0 && parked.lines.contains { $0.contains("?     notifications.seen") })
            try audited.corrupt("INSERT INTO intake.unannounced (facts) SELECT array_agg(id) FROM intake.facts")
            let unpublished = audited.audit("--grace", "0", settings: settings)
            #expect(unpublished.lines.contains { $0.hasPrefix("ok    notifications.seen") }, "the sweep's matter")
            try audited.corrupt("DELETE FROM intake.unannounced")
            _ = try audited.decide(waiting, by: ApplyNotifications())
            let seen = audited.audit("--grace", "0", settings: settings)
            #expect(seen.code == 0 && seen.lines.contains { $0.hasPrefix("ok    notifications.seen") })
        }
    }

    @Test func `without the broker nothing is proven of what is not decided (exit 2), all else is`() async throws {
        let audited = try await AuditedDatabase.make("no_broker")
        try await onThread {
            let settings = ["PURSER_CONTROL_AMQP_URL": "amqp://control:x@127.0.0.1:1/none"]
            #expect(audited.audit("--grace", "0", settings: settings).code == 0, "nothing depends on the queues")
            _ = try audited.verify([AuditedDatabase.statement("1")], by: nil)
            let (code, lines) = audited.audit("--grace", "0", settings: settings)
            #expect(code == 2)
            #expect(lines.contains { $0.contains("check PURSER_CONTROL_AMQP_URL and the broker") }, "\(lines)")
            try audited.corrupt("UPDATE granting.catalog_versions SET digest = sha256('x')")
            #expect(audited.audit("--grace", "0", settings: settings).code == 1)
        }
    }

    @Test func `while a purchase is in question the place in the file does not move`() async throws {
        let (broker, url) = try await Self.control("question")
        let audited = try await AuditedDatabase.make("in_question")
        try await onThread {
            let path = "/tmp/purser-audit-\(UInt64.random(in: 0 ... .max)).json"
            _ = try audited.verify([AuditedDatabase.statement("1")], by: nil)
            let message = OutgoingMessage(
                exchange: Topology.exchange(of: "verification"), routingKey: "purchase.verified",
                properties: MessageProperties(type: "purchase.verified"), body: Array("{}".utf8))
            _ = try broker.publish([message])
            let settings = ["PURSER_CONTROL_AMQP_URL": url]
            #expect(audited.audit("--grace", "0", "--state", path, settings: settings).code == 0)
            #expect(AuditState.read(path) == nil)
        }
    }
}
