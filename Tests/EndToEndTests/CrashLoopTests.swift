import AppStoreSimulation
import Postgres
import Runtime
import TestSupport
import Testing

/// A message on which the process dies whenever it has it in hand.
@Suite(.timeLimit(.minutes(10))) struct CrashLoopTests {
    /// Deliveries after which the broker gives up: Purser's own 50 would take a minute of restarts.
    private static let deliveries = 4

    /// As the topology's policy, with fewer deliveries; of two policies the higher priority counts.
    private static let policy = """
        {"delivery-limit": \(deliveries), "dead-letter-exchange": "purser.parked", \
        "dead-letter-routing-key": "granting.purchases", "dead-letter-strategy": "at-least-once", \
        "overflow": "reject-publish"}
        """

    @Test func `a purchase that kills the process each time is parked alone, its neighbours are granted (R29)`()
        async throws
    {
        try await onThread {
            let deployment = try Deployment.start("crashloop", on: try Platform.shared())
            defer { deployment.remove() }
            _ = try Command.run(
                deployment.platform.controlScript,
                [
                    "set_policy", "-p", deployment.virtualHost, "--priority", "99", "--apply-to", "queues", "short",
                    "^granting\\.purchases$", Self.policy,
                ])
            let guilty = try deployment.purchase("pyy_danbing_680", account: "r29-guilty")
            let others = try (0..<6).map { try deployment.purchase("pyy_danbing_60", account: "r29-\($0)") }
            #expect(deployment.stop(.granting) == .exit(0))
            // Nobody grants yet, so each is told 503 after the gateway's patience; the guilty one is the first in the queue.
            try Self.submit(guilty, by: "r29-guilty", deployment)
            let clients = others.enumerated().map { place, purchase in
                NamedThread.start(name: "client") { try? Self.submit(purchase, by: "r29-\(place)", deployment) }
            }
            for client in clients { client.join() }
            #expect(try deployment.messages(in: "granting.purchases") == others.count + 1)
            let deaths = try Self.killWhoeverHas(guilty, deployment)
            // Once more if the broker had not yet moved it when it was looked at.
            #expect((Self.deliveries + 1...Self.deliveries + 2).contains(deaths))
            try deployment.start([.granting])
            let books = Books(deployment: deployment)
            try eventually("the neighbours are granted") { try books.granted().count == others.count }
            #expect(try Set(books.granted()) == Set(others.map(\.transactionID)))
            #expect(try deployment.messages(in: "granting.purchases.parked") == 1)
            #expect(try books.wrongAccounts() == 0 && books.wrongGrants() == 0)
        }
    }

    private static func submit(_ purchase: SignedPurchase, by user: String, _ deployment: Deployment) throws {
        var backend = try deployment.backend(user)
        do throws(BackendError) {
            _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
        } catch {
            guard error.isRetryable else { throw error }
            return
        }
        throw Places.Missing(description: "granted without anybody who grants")
    }

    /// Kills the process whenever it works on the purchase, and starts it again as a supervisor does, until the broker
    /// gives the message up. Returns how often it died.
    private static func killWhoeverHas(_ guilty: SignedPurchase, _ deployment: Deployment) throws -> Int {
        var holder = try Connection.open(
            "\(deployment.platform.superuser) dbname=\(deployment.database)", applicationName: "holder",
            parameters: ["idle_in_transaction_session_timeout": "0"])
        let books = Books(deployment: deployment)
        var deaths = 0
        do {
            try holder.transaction { transaction in
                // Not yet committed: whoever wants to store this transaction waits for its end.
                _ = try transaction.query(statement, [.text(guilty.transactionID)])
                while try deployment.messages(in: "granting.purchases.parked") == 0, deaths < 20 {
                    try deployment.launch(.granting)
                    try eventually("the process has it in hand, or it is given up") {
                        try books.number(waiting, []) > 0 || deployment.messages(in: "granting.purchases.parked") > 0
                    }
                    deployment.crash(.granting)
                    deaths += 1
                    // A session that waits for a lock learns of its client's death at the lock's time limit.
                    try eventually("the dead one's session is over") { try books.number(waiting, []) == 0 }
                }
                throw Undo()
            }
        } catch is Undo {}
        return deaths
    }

    private struct Undo: Error {}

    private static let statement = """
        INSERT INTO granting.transactions (environment, transaction_id, app, original_transaction_id, bundle_id, product_id,
            product_type, ownership, quantity, purchase_date, signed_date, revoked_share, payload_hash, first_cause)
        VALUES ('Production', $1, 'cloudpc', $1, 'b', 'pyy_danbing_680', 'Consumable', 'PURCHASED', 1, 0, 0, 0, '',
            gen_random_uuid())
        """
    private static let waiting = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'purser_granting'
            AND wait_event_type = 'Lock'
        """
}
