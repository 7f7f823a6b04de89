import AppStoreSimulation
import HTTPClient
import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

/// PostgreSQL is restored to a backup: `purser-granting restore` puts back what was told since.
@Suite(.serialized, .timeLimit(.minutes(8))) struct RestoreTests {
    private static let product = "pyy_danbing_60"

    /// The books as people see them, without times.
    static let books = """
        SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
            SELECT 'account ' || customer || asset || balance || '/' || spent AS line FROM granting.accounts
            UNION ALL SELECT 'ledger ' || customer || asset || direction || amount || '/' || balance_after || source_type
                || source_id || environment || cause FROM granting.ledger
            UNION ALL SELECT 'grant ' || environment || transaction_id || customer || product_id || cause || revision
                || '/' || applied_share FROM granting.grants
            UNION ALL SELECT 'lot ' || transaction_id || asset || amount || '/' || remaining FROM granting.lots
            UNION ALL SELECT 'debt ' || transaction_id || asset || amount || '/' || settled FROM granting.debts
            UNION ALL SELECT 'spend ' || customer || source_id || amount || outcome || balance_after FROM granting.spends
            UNION ALL SELECT 'order ' || order_number || customer || token || coalesce(delivered_transaction, '')
                FROM granting.orders
            UNION ALL SELECT 'token ' || token || customer FROM granting.tokens
            UNION ALL SELECT 'fact ' || id || body FROM granting.facts WHERE type <> 'purchase.redrive.requested') AS lines
        """

    @Test
    func `a restored database gets back every order, token, grant, refund and spend of the lost time (R24)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation_restore")
        try await onThread {
            let books = Books(deployment: deployment)
            var anna = try deployment.backend("anna")
            let first = try deployment.purchase(Self.product, account: "anna")
            #expect(try anna.verify(first.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            try deployment.settle()
            #expect(deployment.stopServices())
            try deployment.backUpDatabase()
            try deployment.start(Deployment.Service.purser)
            let lost = try Self.live(deployment)
            try deployment.settle()
            let before = try books.text(Self.books, [])
            let refused = try Self.restore(deployment)
            #expect(refused.status == 1 && refused.output.contains("stop every copy"), "\(refused.output)")
            #expect(deployment.stopServices())
            try deployment.restoreDatabase()
            #expect(try books.text(Self.books, []) != before)
            let done = try Self.restore(deployment)
            #expect(done.status == 0 && done.output.contains("complete"), "\(done.output)")
            #expect(try books.text(Self.books, []) == before)
            let again = try Self.restore(deployment, "--since", "3600")
            #expect(again.status == 0 && again.output.contains(" 0 facts were missing"), "\(again.output)")
            try deployment.start(Deployment.Service.purser)
            try Self.expectGoesOn(lost, deployment)
            #expect(try Self.facts(books) == lost.facts, "nothing was told again, and nothing decided again")
            // An order of the lost time is as good as any.
            var ben = try deployment.backend("ben")
            let late = try deployment.purchase("pyy_danbing_300", account: "ben", token: lost.openOrder.appAccountToken)
            #expect(
                try ben.verify(late.signedTransactionInfo, orderNumber: lost.openOrder.number).status == "GRANTED")
        }
    }

    /// What happened in the lost time is told to Verification and Intake again by those who know: clients and Apple.
    @Test func `clients and Apple tell again what the restored database lacks, and the audit is clean (R24)`()
        async throws
    {
        let deployment = try await Deployment.shared("reconciliation_restore")
        try await onThread {
            let books = Books(deployment: deployment)
            var connection = try deployment.platform.connect(deployment.database)
            let granted = try connection.query(
                """
                SELECT transaction_id, user_id FROM granting.grants JOIN granting.customers USING (customer)
                """
            ).map { (id: try $0.text("transaction_id"), user: try $0.text("user_id")) }
            let before = try books.balances()
            for purchase in granted {
                let newest = try deployment.store().transaction(purchase.id, environment: "Production")
                var client = try deployment.backend(purchase.user)
                _ = try? client.verify(newest.signedTransactionInfo, orderNumber: nil)
            }
            #expect(try books.balances() == before)
            try deployment.settle()
            try books.expectConsistent()
        }
    }

    // MARK: - The lost time

    /// What is known of it outside of the database.
    private struct Lost {
        var purchases: [(user: String, purchase: SignedPurchase)] = []
        var spends: [String: String] = [:]
        var balances: [String: [String: Int64]] = [:]
        var openOrder: BackendClient.Order
        var facts: Int64 = 0
    }

    private static func live(_ deployment: Deployment) throws -> Lost {
        // Of ben the backup has never heard.
        var ben = try deployment.backend("ben")
        var lost = Lost(openOrder: try ben.order("pyy_danbing_300"))
        for name in ["anna", "ben"] {
            var client = try deployment.backend(name)
            let order = try client.order(product)
            let ordered = try deployment.purchase(product, account: name, token: order.appAccountToken)
            #expect(try client.verify(ordered.signedTransactionInfo, orderNumber: order.number).status == "GRANTED")
            let plain = try deployment.purchase(product, account: name)
            #expect(try client.verify(plain.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            lost.purchases += [(user: name, purchase: ordered), (user: name, purchase: plain)]
            lost.spends["\(name)-1"] = try deployment.spend(70, id: "\(name)-1", by: name)
        }
        // A refund of what is spent: a debt.
        let refunded = try deployment.store().refund(
            lost.purchases[2].purchase.transactionID, environment: "Production")
        _ = try? ben.verify(refunded.signedTransactionInfo, orderNumber: nil)
        for name in ["anna", "ben"] {
            var client = try deployment.backend(name)
            lost.balances[name] = try client.balance()
        }
        lost.facts = try facts(Books(deployment: deployment))
        return lost
    }

    private static func facts(_ books: Books) throws -> Int64 {
        try books.number(
            "SELECT count(*) FROM granting.facts WHERE type = ANY($1::text[])",
            [
                .textArray(Topology.streamedFacts.map(\.rawValue))
            ])
    }

    /// Everybody finds what they had, and whatever is said again changes nothing.
    private static func expectGoesOn(_ lost: Lost, _ deployment: Deployment) throws {
        for (name, balance) in lost.balances {
            var client = try deployment.backend(name)
            for (user, purchase) in lost.purchases where user == name {
                let answer = try? client.verify(purchase.signedTransactionInfo, orderNumber: nil)
                #expect(answer == nil || answer?.status == "ALREADY_GRANTED")
            }
            #expect(try deployment.spend(70, id: "\(name)-1", by: name) == lost.spends["\(name)-1"])
            #expect(try client.balance() == balance, "\(name)")
        }
    }

    private static func restore(_ deployment: Deployment, _ words: String...) throws -> Command.Outcome {
        try deployment.run("purser-granting", ["restore"] + words, deployment.environment(.granting))
    }
}
