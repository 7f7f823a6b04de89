import AppStoreSimulation
import JSON
import Messages
import Postgres
import TestSupport
import Testing

/// The database dies and is restored to a base backup of the whole cluster, which was made while people bought: the
/// operating guide's procedure, step by step.
@Suite(.serialized, .timeLimit(.minutes(8))) struct BaseBackupTests {
    private static let product = "pyy_danbing_60"
    private static let wait = Duration.seconds(120)

    @Test func `all schemas restored to a base backup: stream, Apple and clients bring back what was lost (R24)`()
        async throws
    {
        try await onThread {
            let platform = try Platform.own("base_backup")
            defer { try? platform.stop() }
            let deployment = try Deployment.start("recovery_backup", on: platform)
            defer { deployment.remove() }
            let books = Books(deployment: deployment)
            try deployment.connectToApple()
            var lost = Lost()
            try Self.live("before", &lost, deployment)
            let backup = "\(platform.state)/base"
            try platform.run("database", "backup", backup)
            try Self.live("after", &lost, deployment)
            try deployment.settle()
            let told = try books.text(RestoreTests.books, [])
            // The machine is lost, with all that was written since.
            try platform.run("database", "kill")
            for service in Deployment.Service.purser { _ = deployment.stop(service) }
            try platform.run("database", "restore", backup)
            try platform.run("database", "start")
            #expect(try books.text(RestoreTests.books, []) != told)
            let done = try deployment.run("purser-granting", ["restore"], deployment.environment(.granting))
            #expect(done.status == 0 && done.output.contains("complete"), "\(done.output)")
            #expect(try books.text(RestoreTests.books, []) == told)
            try deployment.start(Deployment.Service.purser)
            try deployment.importCatalog()
            try Self.expectGoesOn(lost, deployment)
            try Self.expectWhole(deployment)
            #expect(try books.balances() == lost.wallets)
        }
    }

    // MARK: - Living

    /// What is known outside of the database.
    private struct Lost {
        var purchases: [(user: String, purchase: SignedPurchase)] = []
        var spends: [(user: String, id: String, answer: String)] = []
        var orders: [(user: String, order: BackendClient.Order)] = []
        var wallets: [String: [String: Int64]] = [:]
    }

    /// A day of two users, one of whom is here for the first time: purchases with and without an order, one that is
    /// refunded in part and one wholly, a spend, an open order, consent, a purchase that waits.
    private static func live(_ time: String, _ lost: inout Lost, _ deployment: Deployment) throws {
        for user in ["anna", "new-\(time)"] {
            var client = try deployment.backend(user)
            let order = try client.order(product)
            let ordered = try deployment.purchase(product, account: user, token: order.appAccountToken)
            #expect(
                try client.verify(ordered.signedTransactionInfo, orderNumber: order.number).transactionID
                    == ordered.transactionID)
            var bought = [ordered]
            for _ in 1...2 {
                let plain = try deployment.purchase(product, account: user)
                #expect(try client.verify(plain.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
                bought.append(plain)
            }
            let sandbox = try deployment.purchase(product, account: user, environment: "Sandbox")
            _ = try? client.verify(sandbox.signedTransactionInfo, orderNumber: nil)
            let answer = try deployment.spend(70, id: "\(time)-\(user)", by: user)
            lost.spends.append((user: user, id: "\(time)-\(user)", answer: answer))
            _ = try client.send("PUT", "/api/iap/consumption-consent", [:])
            lost.orders.append((user: user, order: try client.order("pyy_danbing_300")))
            let store = try deployment.store()
            _ = try store.refund(bought[1].transactionID, environment: "Production", percentage: 50)
            _ = try store.refund(bought[2].transactionID, environment: "Production")
            lost.purchases += bought.map { (user: user, purchase: $0) }
            let books = Books(deployment: deployment)
            try eventually(within: wait, "the refunds are taken back") {
                try books.number(
                    "SELECT count(*) FROM granting.grants WHERE applied_share > 0 AND transaction_id = ANY($1::text[])",
                    [.textArray(bought.map(\.transactionID))]) == 2
            }
        }
        lost.wallets = try Books(deployment: deployment).balances()
    }

    /// Everybody finds what they had; whatever is said again changes nothing. A device that is asked for what was bought
    /// on it hands it in as Apple signs it now, and Verification has its evidence again.
    private static func expectGoesOn(_ lost: Lost, _ deployment: Deployment) throws {
        for (user, id, answer) in lost.spends {
            #expect(try deployment.spend(70, id: id, by: user) == answer)
        }
        for (user, purchase) in lost.purchases {
            var client = try deployment.backend(user)
            let newest = try deployment.store().transaction(
                purchase.transactionID, environment: purchase.environment)
            let answer = try? client.verify(newest.signedTransactionInfo, orderNumber: nil)
            #expect(answer == nil || answer?.status == "ALREADY_GRANTED")
        }
        for (user, _) in lost.orders {
            var client = try deployment.backend(user)
            let consent = try client.send("GET", "/api/iap/consumption-consent")
            #expect(consent["consented"]?.boolValue == true)
        }
    }

    /// What Apple told in the lost time is stored again, no case waits, and the books add up with their evidence.
    private static func expectWhole(_ deployment: Deployment) throws {
        let books = Books(deployment: deployment)
        try eventually(within: wait, "Apple's notifications are back, and every case is closed") {
            try books.number("SELECT count(*) FROM intake.notifications WHERE type = 'REFUND'", []) == 8
                && books.number(
                    """
                    (SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved')
                        + (SELECT count(*) FROM reconciliation.apple_feeds)
                    """, []) == 0
        }
        try deployment.settle()
        try books.expectConsistent()
    }
}
