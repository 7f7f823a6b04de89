import AppStore
import AppStoreSimulation
import HTTPServer
import JOSE
import JSON
import LegacyReceipts
import Messages
import Observability
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Verification

/// Asking Apple about receipts that cannot be judged here.
@Suite(.timeLimit(.minutes(5))) struct CheckReceiptsTests {
    /// A database, and Apple.
    private static func with(
        _ name: String, _ body: @escaping @Sendable (VerificationDatabase, AppleStage) throws -> Void
    ) async throws {
        try await VerificationDatabase.with("apple_\(name)") { database in
            let apple = try AppleStage.start()
            defer { apple.stop() }
            try body(database, apple)
        }
    }

    @Test func `what Apple knows goes the way of every receipt, with the caller (C-050)`()
        async throws
    {
        try await Self.with("genuine") { database, apple in
            let receipt = OpenReceipt.receipt(["1", "2"], type: "Production") { $0.purchases[1].quantity = 3 }
            let container = try OpenReceipt.container(receipt)
            apple.answer("production", AppleStage.json(receipt.answer))
            let request = try database.open(container)
            let outcome = try database.run(try apple.handler(), [request])[0]
            let fact = try #require(outcome.facts.first)
            let message = try MessageCoding.decode(PurchaseVerified.self, from: fact.body)
            #expect(fact.cause == request.header.id && fact.key == "Production/1" && outcome.facts.count == 1)
            #expect(message.userID == UserID("alice") && message.app == World.game)
            #expect(message.transactions.map(\.transactionID) == [TransactionID("1"), TransactionID("2")])
            #expect(message.transactions.map(\.quantity) == [1, 3])
            #expect(message.transactions.allSatisfy { $0.isFromReceipt && $0.environment == .production })
            #expect(apple.asked == ["production"])
            let question = try #require(apple.questions.first).body
            #expect(question["receipt-data"]?.stringValue == Base64.encode(container))
            #expect(question["password"] == nil)
            let kept = try database.rows(
                """
                SELECT a.asked, convert_from(a.answer, 'UTF8') AS answer, r.container FROM verification.receipt_answers a
                JOIN verification.receipts r USING (content_hash)
                """)
            #expect(try kept.map { try $0.text("asked") } == ["Production"])
            #expect(try kept[0].bytes("container") == container)
            #expect(try JSONReader.parseObject(Array(kept[0].text("answer").utf8)) == receipt.answer)
            #expect(try database.rows("SELECT FROM verification.receipt_checks WHERE receipt IS NOT NULL").isEmpty)
            #expect(try database.count("receipt_purchases") == 2)
        }
    }

    /// Answers of the two addresses, whom that makes us ask, and whether the receipt counts in the end.
    @Test(
        arguments: [
            (21_007, 0, ["production", "sandbox"], true), (21_007, 21_007, ["production", "sandbox"], false),
            (21_007, 21_008, ["production", "sandbox"], false), (21_008, 0, ["production"], false),
            (0, 0, ["production"], false),
        ] as [(Int64, Int64, [String], Bool)])
    func `a sandbox receipt is asked about at the sandbox once, never a third time (C-052 C-053 C-099 C-112)`(
        production: Int64, sandbox: Int64, asked: [String], isVerified: Bool
    ) async throws {
        try await Self.with("hops_\(production)_\(sandbox)") { database, apple in
            let receipt = OpenReceipt.receipt()
            func answer(_ status: Int64) -> HTTPResponse {
                status == 0 ? AppleStage.json(receipt.answer) : AppleStage.status(status)
            }
            apple.answer("production", answer(production))
            apple.answer("sandbox", answer(sandbox))
            let lines = LineCollector()
            let handler = try apple.handler(logger: lines.logger)
            let outcome = try database.run(handler, [try database.open(try OpenReceipt.container(receipt))])[0]
            #expect(apple.asked == asked)
            #expect((outcome.facts.count == 1) == isVerified)
            // The receipt is the sandbox's, so an answer of Production about it is not believed: (0, 0).
            if !isVerified { #expect(outcome.retryReason != nil && outcome.outageReason == nil) }
            if production == 21_007 {
                let line = try #require(lines.text.split(separator: "\n").first { $0.contains("VerifyError") })
                #expect(line.contains("\"retry\":\"sandbox\"") && line.contains("\"status\":21007"))
            }
        }
    }

    @Test func `an app of the sandbox only is asked about there first, and 21008 leads to Production once (C-053)`()
        async throws
    {
        try await AppleStage.run { apple in
            let receipt = OpenReceipt.receipt(type: "Production")
            apple.answer("sandbox", AppleStage.status(21_008))
            apple.answer("production", AppleStage.json(receipt.answer))
            let asker = ReceiptAsker(apple.settings())
            let finding = asker.ask(about: [1], secret: nil, first: .sandbox, attempt: 0)
            guard case .answered(let answer, _, .production) = finding else {
                Issue.record("\(finding)")
                return
            }
            #expect(answer.environment == "Production" && apple.asked == ["sandbox", "production"])
            apple.answer("production", AppleStage.status(21_007))
            guard case .open(let trouble) = asker.ask(about: [1], secret: nil, first: .sandbox, attempt: 0) else {
                Issue.record("not open")
                return
            }
            #expect(trouble.isAlarm && !trouble.isOutage && apple.asked.count == 4)
        }
    }

    /// A status, earlier attempts, and what becomes of it: refused, waiting without limit, waiting with one.
    @Test(
        arguments: [
            (21_000, 0, "refused"), (21_001, 0, "refused"), (21_002, 0, "outage"), (21_002, 2, "outage"),
            (21_002, 3, "refused"), (21_003, 0, "refused"), (21_004, 0, "outage"), (21_005, 20, "outage"),
            (21_009, 0, "outage"), (21_010, 0, "refused"), (21_100, 0, "outage"), (21_199, 0, "outage"),
            (21_200, 0, "limited"), (1, 0, "limited"), (-1, 0, "limited"),
        ] as [(Int64, Int, String)])
    func `every status of Apple is mapped: refused for good, or the purchase is kept and asked about again (C-052)`(
        status: Int64, attempt: Int, end: String
    ) async throws {
        try await Self.with("status_\(status)_\(attempt)") { database, apple in
            apple.answer("production", AppleStage.status(status))
            let lines = LineCollector()
            let request = try database.open(try OpenReceipt.container(), attempt: attempt)
            let outcome = try database.run(try apple.handler(logger: lines.logger), [request])[0]
            let answer = try #require(try outcome.answer)
            #expect(answer.reason == "apple_\(status)" && !answer.mayFinish && outcome.facts.isEmpty)
            switch end {
            case "refused":
                #expect(answer.status == .refused && answer.code == .appleTransactionVerifyFailed)
                #expect(try database.count("quarantine") == 1)
                // Delivered again it is answered alike, and nobody is asked.
                #expect(try database.run(try apple.handler(), [request])[0].answer == answer)
                #expect(apple.asked.count == 1)
            default:
                #expect(answer.status == .pending && answer.code == .purchasePending)
                #expect((outcome.outageReason != nil) == (end == "outage"))
                #expect(try database.rows("SELECT FROM verification.receipt_checks WHERE receipt IS NULL").isEmpty)
            }
            #expect(lines.text.contains("\"level\":\"error\"") == (status == 21_004))
        }
    }

    @Test func `a status that Apple itself calls retryable is asked about without limit`() async throws {
        try await Self.with("retryable") { database, apple in
            apple.answer("production", AppleStage.json(["status": 21_500, "is-retryable": true]))
            let outcome = try database.run(try apple.handler(), [try database.open(try OpenReceipt.container())])[0]
            #expect(outcome.outageReason == "receipt.apple_21500")
        }
    }

    @Test func `no answer, another server's answer and one without end are waited out (C-052)`() async throws {
        try await Self.with("troubles") { database, apple in
            let request = try database.open(try OpenReceipt.container())
            let html = HTTPResponse(status: 200, body: Array("<html>Sign in</html>".utf8))
            let cases: [(HTTPResponse, String, Bool)] = [
                (HTTPResponse(status: 503), "receipt.http_status", true),
                (HTTPResponse(status: 302, headers: [("Location", "/sandbox")]), "receipt.http_status", true),
                (AppleStage.silence, "receipt.timeout", true), (html, "receipt.unreadable", false),
                (AppleStage.json([:]), "receipt.unreadable", false),
                (HTTPResponse(status: 200), "receipt.unreadable", false),
                (AppleStage.json(["status": "0"]), "receipt.unreadable", false),
                (
                    HTTPResponse(status: 200, body: [UInt8](repeating: 0x20, count: 5 << 20)), "receipt.too_large",
                    false
                ),
            ]
            for (answer, reason, isOutage) in cases {
                apple.answer("production", answer)
                let outcome = try database.run(try apple.handler(timeout: .milliseconds(500)), [request])[0]
                #expect(outcome.retryReason == reason)
                #expect((outcome.outageReason != nil) == isOutage)
                #expect(try outcome.answer?.status == .pending)
            }
            #expect(try database.count("quarantine") == 0)
        }
        try await VerificationDatabase.with("apple_nobody") { database in
            let settings = VerifyReceiptSettings(production: "http://127.0.0.1:1/", sandbox: "http://127.0.0.1:1/")
            let handler = CheckReceipts(
                receipts: try World().receiptVerifier(), settings: settings, secrets: ReceiptSecrets(),
                apps: World.apps, metrics: Metrics(), logger: .silent, now: { World.now })
            let outcome = try database.run(handler, [try database.open(try OpenReceipt.container())])[0]
            #expect(outcome.outageReason == "receipt.unreachable")
        }
    }

    @Test func `what Apple says is judged as a receipt that was verified here (C-056 C-057 C-058 C-059 C-060)`()
        async throws
    {
        try await Self.with("claims") { database, apple in
            func end(_ receipt: SimulatedReceipt, product: String = OpenReceipt.product) throws -> Outcome {
                apple.answer("production", AppleStage.json(receipt.answer))
                return try database.run(
                    try apple.handler(), [try database.open(try OpenReceipt.container(receipt), product: product)])[0]
            }
            func made(
                _ ids: [String] = ["1"], bundleID: String = World.gameBundle, type: String = "Production",
                _ change: (inout SimulatedReceipt) -> Void = { _ in }
            ) -> SimulatedReceipt { OpenReceipt.receipt(ids, bundleID: bundleID, type: type, change) }
            let product = OpenReceipt.product
            let cases: [(SimulatedReceipt, String, String)] = [
                (made(bundleID: "com.example.stranger"), product, "app_mismatch"),
                (made(bundleID: World.booksBundle), product, "app_mismatch"),
                (made(), "com.example.game.other", "product_not_in_receipt"),
                (made([]), product, "product_not_in_receipt"),
                (made { $0.purchases[0].quantity = 0 }, product, "payload_field"),
                (made { $0.purchases[0].quantity = 101 }, product, "payload_field"),
                (made(["not a number"]), product, "payload_field"),
                (made(type: "ProductionNew"), product, "environment_mismatch"),
            ]
            for (receipt, product, reason) in cases {
                let answer = try end(receipt, product: product).answer
                #expect(answer?.status == .refused && answer?.reason == reason)
            }
            #expect(try database.count("receipts") == 0)
            let future = try end(made { $0.creationDate = World.now + 3_600_000 })
            #expect(future.outageReason == "receipt.signed_date_in_future", "a clock is wrong, nothing is lost")
            let cancelled = try end(
                made(["7", "7"]) {
                    for index in $0.purchases.indices { $0.purchases[index].cancellationDate = World.now - 5_000 }
                })
            let told = try MessageCoding.decode(
                PurchaseVerified.self, from: try #require(cancelled.facts.first).body)
            #expect(told.transaction.revocationDate == World.now - 5_000 && told.others == nil, "once")
        }
    }

    @Test func `switched off while receipts wait, they are refused as before, and nobody is asked`() async throws {
        try await Self.with("off") { database, apple in
            let request = try database.open(try OpenReceipt.container())
            let answer = try database.run(try apple.handler(mode: .off), [request])[0].answer
            #expect(answer?.status == .refused && answer?.reason == "format" && apple.asked.isEmpty)
        }
    }

    @Test func `a receipt that nobody keeps any more was decided: nothing is asked, nothing is said`() async throws {
        try await Self.with("gone") { database, apple in
            let request = try database.open(try OpenReceipt.container())
            try database.database.execute("DELETE FROM verification.receipt_checks")
            let outcome = try database.run(try apple.handler(), [request])[0]
            #expect(outcome.facts.isEmpty && outcome.parkedReason == nil && outcome.retryReason == nil)
            #expect(apple.asked.isEmpty)
        }
    }
}

extension Outcome {
    /// Why it goes round; nil if it does not.
    var retryReason: String? { if case .retry(_, let reason, _, _, _) = self { reason } else { nil } }
}
