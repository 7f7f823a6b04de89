import AMQP
import Messages
import Observability
import Postgres
import TestSupport
import Testing

/// What a service that was taken over could do: nothing that is not its own to say or read.
@Suite struct PermissionTests {
    /// A message a broker user must not be able to publish.
    struct Forbidden: Sendable, CustomTestStringConvertible {
        let user: String
        let exchange: String
        let routingKey: String
        var testDescription: String { "\(user) says \(routingKey) on \(exchange.isEmpty ? "the default" : exchange)" }
    }

    static let forbidden = [
        Forbidden(user: "gateway", exchange: Topology.purser, routingKey: "purchase.verified"),
        Forbidden(user: "gateway", exchange: Topology.purser, routingKey: "purchase.granted"),
        Forbidden(user: "gateway", exchange: Topology.purser, routingKey: "catalog.import.requested"),
        Forbidden(user: "gateway", exchange: Topology.retry, routingKey: "5s.granting.purchases"),
        Forbidden(user: "gateway", exchange: Topology.parked, routingKey: "granting.purchases"),
        Forbidden(user: "gateway", exchange: Topology.replies, routingKey: "gateway.replies.somebody"),
        Forbidden(user: "gateway", exchange: "", routingKey: "granting.purchases"),
        Forbidden(user: "verification", exchange: Topology.purser, routingKey: "purchase.granted"),
        Forbidden(user: "verification", exchange: Topology.purser, routingKey: "purchase.submitted"),
        Forbidden(user: "verification", exchange: Topology.retry, routingKey: "5s.granting.purchases"),
        Forbidden(user: "verification", exchange: Topology.returning, routingKey: "5s.granting.purchases"),
        Forbidden(user: "granting", exchange: Topology.purser, routingKey: "purchase.verified"),
        Forbidden(user: "granting", exchange: Topology.retry, routingKey: "5s.verification.purchases"),
        Forbidden(user: "granting", exchange: "", routingKey: "granting.purchases"),
        Forbidden(user: "control", exchange: Topology.purser, routingKey: "purchase.verified"),
        Forbidden(user: "control", exchange: Topology.purser, routingKey: "purchase.submitted"),
        Forbidden(user: "control", exchange: Topology.replies, routingKey: "gateway.replies.somebody"),
    ]

    @Test(arguments: forbidden) func `the broker refuses what a user may not say (S47)`(_ forbidden: Forbidden)
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let endpoint = try AMQPEndpoint(url: deployment.brokerURL(user: forbidden.user))
            var publisher = try Publisher.open(endpoint, connectionName: "test")
            let message = OutgoingMessage(
                exchange: forbidden.exchange, routingKey: forbidden.routingKey,
                properties: MessageProperties(type: forbidden.routingKey), body: Array("{}".utf8))
            var code: Int?
            do {
                _ = try publisher.publish([message], patience: .seconds(5))
            } catch AMQPError.channelClosed(let closing, _) {
                code = closing
            }
            #expect(code == 403)
        }
    }

    @Test(arguments: [
        ("gateway", "granting.purchases"), ("gateway", "verification.purchases"),
        ("verification", "granting.purchases"), ("granting", "verification.purchases"),
        ("granting", "verification.purchases.parked"), ("control", "granting.purchases"),
    ])
    func `the broker refuses to let a user read another's queue`(user: String, queue: String) async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let endpoint = try AMQPEndpoint(url: deployment.brokerURL(user: user))
            #expect(throws: AMQPError.self) {
                _ = try Consumer.open(endpoint, connectionName: "test", queue: queue, prefetch: 1)
            }
        }
    }

    @Test(arguments: [
        ("purser_verification", "SELECT * FROM granting.ledger"),
        ("purser_verification", "SELECT * FROM granting.customers"),
        ("purser_verification", "UPDATE verification.evidence SET app = 'x'"),
        ("purser_verification", "DELETE FROM verification.evidence"),
        ("purser_verification", "UPDATE verification.facts SET body = 'x'"),
        ("purser_granting", "SELECT * FROM verification.evidence"),
        ("purser_granting", "UPDATE granting.ledger SET amount = 1"),
        ("purser_granting", "DELETE FROM granting.ledger"),
        ("purser_granting", "TRUNCATE granting.ledger"),
        ("purser_granting", "UPDATE granting.grants SET customer = gen_random_uuid()"),
        ("purser_granting", "DELETE FROM granting.grants"),
        ("purser_granting", "UPDATE granting.spends SET outcome = 'spent'"),
        ("purser_granting", "CREATE TABLE granting.extra ()"),
        ("purser_auditor", "INSERT INTO granting.unannounced (facts) VALUES ('{}')"),
        ("purser_auditor", "UPDATE granting.accounts SET balance = 0"),
        ("purser_migrator", "UPDATE granting.ledger SET amount = 1"),
        ("purser_migrator", "DELETE FROM granting.ledger"),
    ])
    func `the database refuses what a role may not do`(role: String, statement: String) async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let conninfo = deployment.platform.conninfo(role: role, database: deployment.database)
            var connection = try Connection.open(conninfo, applicationName: "test")
            // 42501: insufficient_privilege, by a missing right or by the trigger that guards append-only tables.
            let error = #expect(throws: PostgresError.self) { _ = try connection.query(statement) }
            #expect(error?.sqlState == "42501", "\(String(describing: error))")
        }
    }
}
