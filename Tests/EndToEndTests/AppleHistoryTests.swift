import AppStoreSimulation
import Crypto
import HTTPClient
import JSON
import Messages
import Postgres
import TestSupport
import Testing

/// What Apple has told and we have not heard comes back, with real processes and a simulated App Store.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AppleHistoryTests {
    private static let product = "pyy_danbing_60"
    private static let wait = Duration.seconds(90)

    /// A deployment whose app may call the simulated Server API, and which is told what happens there.
    private static func open() async throws -> Deployment {
        let deployment = try await Deployment.shared("apple")
        try await onThread {
            try deployment.connectToApple()
        }
        return deployment
    }

    /// Spoils Apple's next answers.
    private static func spoil(_ deployment: Deployment, _ faults: JSONObject...) throws {
        var client = try HTTPClient.open()
        for fault in faults {
            let answer = try client.send(
                HTTPClientRequest(
                    "POST", deployment.simulator + "/simulator/server-api/faults",
                    headers: [("Content-Type", "application/json")], body: JSONWriter.write(fault)))
            #expect(answer.status < 300)
        }
    }

    private static func findings(_ books: Books, _ transactionID: String) throws -> String {
        try books.text(
            """
            SELECT coalesce(string_agg(kind || ' ' || state, ',' ORDER BY id), '') FROM reconciliation.findings
            WHERE transaction_id = $1
            """, [.text(transactionID)])
    }

    /// A purchase whose notification is lost.
    private static func silent(
        _ deployment: Deployment, account: String, token: String?
    ) throws -> SignedPurchase {
        let request = PurchaseRequest(
            bundleID: Deployment.bundleID, productID: product, appleAccount: account, appAccountToken: token,
            notification: .never)
        guard case .purchased(let purchase) = try deployment.store().purchase(request) else {
            throw Places.Missing(description: "the store waits for approval nobody asked for")
        }
        Canaries.register(signed: purchase.signedTransactionInfo, kind: "a signed transaction")
        return purchase
    }

    @Test func `a refund whose notification is lost is taken back once, while Apple answers 429 and 500 (B-131 R24)`()
        async throws
    {
        let deployment = try await Self.open()
        try await onThread {
            let books = Books(deployment: deployment)
            var anna = try deployment.backend("anna")
            let purchase = try deployment.purchase(Self.product, account: "anna")
            #expect(try anna.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            #expect(try books.balances("anna") == ["DANBING": 60])
            try Self.spoil(
                deployment, ["mode": "rateLimited", "path": "notifications/history"],
                ["mode": "error", "path": "notifications/history", "count": 2],
                ["mode": "truncated", "path": "notifications/history"])
            _ = try deployment.store().refund(
                purchase.transactionID, environment: "Production", notification: .never)
            try eventually(within: Self.wait, "it is taken back") { try books.balances("anna") == ["DANBING": 0] }
            try eventually(within: Self.wait, "the case is closed") {
                try Self.findings(books, purchase.transactionID) == "notification_missed resolved"
            }
            #expect(
                try books.number(
                    "SELECT count(*) FROM granting.ledger WHERE source_type = 'APPLE_REFUND' AND source_id LIKE $1 || '/%'",
                    [.text(purchase.transactionID)]) == 1)
            try books.expectConsistent()
        }
    }

    @Test func `a refund that Apple never told, not in its history either, is taken back once (A-122 B-131)`()
        async throws
    {
        let deployment = try await Self.open()
        try await onThread {
            let books = Books(deployment: deployment)
            var emil = try deployment.backend("emil")
            let purchase = try deployment.purchase(Self.product, account: "emil")
            #expect(try emil.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            try Self.spoil(
                deployment, ["mode": "rateLimited", "path": "refund/lookup"],
                ["mode": "error", "path": "refund/lookup", "count": 2])
            _ = try deployment.store().refund(purchase.transactionID, environment: "Production", notification: .lost)
            try eventually(within: Self.wait, "it is taken back") { try books.balances("emil") == ["DANBING": 0] }
            try eventually(within: Self.wait, "the case is closed") {
                try Self.findings(books, purchase.transactionID) == "refund_missed resolved"
            }
            #expect(
                try books.number(
                    "SELECT count(*) FROM intake.notifications WHERE transaction_id = $1 AND type = 'REFUND'",
                    [.text(purchase.transactionID)]) == 0)
            #expect(
                try books.number(
                    "SELECT count(*) FROM granting.ledger WHERE source_type = 'APPLE_REFUND' AND source_id LIKE $1 || '/%'",
                    [.text(purchase.transactionID)]) == 1)
            // The client comes with what it has kept, which is older: nothing comes back.
            let older = refusal { () throws(BackendError) in
                _ = try emil.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(older?.code == "TRANSACTION_ALREADY_REVOKED")
            try books.expectConsistent()
        }
    }

    @Test func `an order id of Apple's e-mail leads to the purchase and its story (A-126)`() async throws {
        let deployment = try await Self.open()
        try await onThread {
            var finn = try deployment.backend("finn")
            let purchase = try deployment.purchase(Self.product, account: "finn")
            #expect(try finn.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            func find(_ orderID: String) throws -> (code: Bool, text: String) {
                let result = try deployment.run(
                    "purser", ["find", "--apple-order", orderID], deployment.controlEnvironment)
                return (result.status == 0, result.output)
            }
            let found = try find(purchase.orderID)
            #expect(found.code && found.text.contains("Production/\(purchase.transactionID)"), "\(found.text)")
            #expect(found.text.contains("granted to customer"), "\(found.text)")
            let unknown = try find("MXXXXXX")
            #expect(!unknown.code && unknown.text.contains("Apple knows no such order"), "\(unknown.text)")
            try Self.spoil(deployment, ["mode": "unauthorized", "path": "inApps/v1/lookup"])
            let refused = try find(purchase.orderID)
            #expect(!refused.code && refused.text.contains("server_api.unauthorized"), "\(refused.text)")
        }
    }

    @Test func `what nobody handed in and nobody told is granted to its owner by the token (A-120 B-112)`()
        async throws
    {
        let deployment = try await Self.open()
        try await onThread {
            let books = Books(deployment: deployment)
            var bert = try deployment.backend("bert")
            let order = try bert.order(Self.product)
            let purchase = try Self.silent(deployment, account: "bert", token: order.appAccountToken)
            try eventually(within: Self.wait, "it is granted") { try books.grants(purchase.transactionID) == 1 }
            #expect(try books.balances("bert") == ["DANBING": 60])
            try eventually(within: Self.wait, "the case is closed") {
                try Self.findings(books, purchase.transactionID) == "notification_missed resolved"
            }
            // The client comes after all.
            #expect(
                try bert.verify(purchase.signedTransactionInfo, orderNumber: order.number).status == "ALREADY_GRANTED")
        }
    }

    @Test func `what Granting's purged queue swallowed is told again (R23)`() async throws {
        let deployment = try await Self.open()
        try await onThread {
            let books = Books(deployment: deployment)
            var carl = try deployment.backend("carl")
            let purchase = try deployment.purchase(Self.product, account: "carl")
            #expect(try carl.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            // Told and stored while Granting is away and nobody compares; then the queue is emptied.
            #expect(deployment.stop(.reconciliation) == .exit(0) && deployment.stop(.granting) == .exit(0))
            _ = try deployment.store().refund(purchase.transactionID, environment: "Production")
            try eventually(within: Self.wait, "it is stored and waits") {
                try deployment.messages(in: Topology.grantingNotifications.name) >= 1
                    && books.number(
                        "SELECT count(*) FROM intake.notifications WHERE transaction_id = $1 AND type = 'REFUND'",
                        [.text(purchase.transactionID)]) == 1
            }
            _ = try Command.run(
                deployment.platform.controlScript,
                ["purge_queue", "-p", deployment.virtualHost, Topology.grantingNotifications.name])
            try deployment.start([.granting, .reconciliation])
            try eventually(within: Self.wait, "it is taken back") { try books.balances("carl") == ["DANBING": 0] }
            try eventually(within: Self.wait, "the case is closed") {
                try Self.findings(books, purchase.transactionID).contains("notification_unapplied resolved")
            }
            try books.expectConsistent()
        }
    }

    @Test func `kill -9 in the middle of a page, again and again: all comes, nothing twice (C-109)`() async throws {
        let deployment = try await Self.open()
        try await onThread {
            let books = Books(deployment: deployment)
            let users = (1...45).map { "dora\($0)" }
            var purchases: [String] = []
            for user in users {
                var backend = try deployment.backend(user)
                let order = try backend.order(Self.product)
                purchases.append(
                    try Self.silent(deployment, account: user, token: order.appAccountToken).transactionID)
            }
            func granted() throws -> Int64 {
                try books.number(
                    "SELECT count(*) FROM granting.grants WHERE transaction_id = ANY($1::text[])",
                    [.textArray(purchases)])
            }
            for share in [Int64(5), 25] {
                try eventually(within: Self.wait, "some are there") { try granted() >= share }
                deployment.crash(.reconciliation)
                try deployment.start([.reconciliation])
            }
            try eventually(within: Self.wait, "all are there") { try granted() == 45 }
            for user in users { #expect(try books.balances(user) == ["DANBING": 60]) }
            try eventually(within: Self.wait, "all cases are closed") {
                try books.number(
                    "SELECT count(*) FROM reconciliation.findings WHERE state <> 'resolved'", []) == 0
            }
            #expect(
                try books.number(
                    "SELECT count(*) FROM reconciliation.apple_feeds", []) == 0)
            try books.expectConsistent()
        }
    }
}
