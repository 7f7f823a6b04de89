import AppStore
import AppStoreSimulation
import Messages
import Pipeline
import Testing

@testable import Verification

/// Receipts handed in: one fact for all purchases of the product, or a refusal.
@Suite(.timeLimit(.minutes(5))) struct ReceiptSubmissionTests {
    private static let product = "com.example.game.gems"

    static func receipt(_ ids: [String], bundleID: String = World.gameBundle) throws -> String {
        let authority = try World.receipts.get()
        let purchases = ids.map {
            SimulatedReceipt.Purchase(transactionID: $0, productID: product, purchaseDate: World.now - 60_000)
        }
        let other = SimulatedReceipt.Purchase(
            transactionID: "999", productID: "com.example.game.other", purchaseDate: World.now - 60_000)
        return try ReceiptSigner(authority).text(
            SimulatedReceipt(bundleID: bundleID, creationDate: World.now - 1_000, purchases: purchases + [other]))
    }

    static func submission(
        _ receipt: String, product: String = product, by user: String = "alice"
    ) throws -> Incoming {
        let body = PurchaseSubmitted(
            app: World.game, userID: UserID(user), receipt: receipt, productID: ProductID(product))
        let header = MessageHeader(
            id: MessageID(UUIDText.random()), type: .purchaseSubmitted, version: 1, occurredAt: World.now,
            correlationID: "correlation", replyTo: "gateway")
        return Incoming(header: header, body: try MessageCoding.encode(body), isRedelivered: false)
    }

    @Test func `all purchases of the product become one fact, and the receipt is kept once (C-056 C-058)`() async throws
    {
        try await VerificationDatabase.with("receipts") { verification in
            var session = try verification.open()
            let text = try Self.receipt(["1", "2"])
            let outcomes = try session.run([try Self.submission(text), try Self.submission(text)])
            let fact = try #require(outcomes.first?.facts.first)
            let message = try MessageCoding.decode(PurchaseVerified.self, from: fact.body)
            #expect(fact.key == "Sandbox/1")
            #expect(message.transactions.map(\.transactionID) == [TransactionID("1"), TransactionID("2")])
            #expect(message.transactions.allSatisfy { $0.isFromReceipt && $0.productType.isEmpty })
            #expect(message.transaction.environment == .sandbox && message.transaction.signedDate == World.now - 1_000)
            #expect(message.userID == UserID("alice") && message.orderNumber == nil)
            #expect(try verification.count("receipts") == 1)
            #expect(try verification.count("receipt_purchases") == 2)
            #expect(try verification.count("quarantine") == 0)
        }
    }

    @Test func `what no receipt of ours proves is refused and kept apart (C-050 C-057 C-058)`() async throws {
        try await VerificationDatabase.with("receipt_refusals") { verification in
            var session = try verification.open()
            let genuine = try Self.receipt(["1"])
            let cases: [(text: String, product: String, reason: String)] = [
                (genuine, "com.example.game.gems2", "product_not_in_receipt"), ("%%%", Self.product, "format"),
                (try Self.receipt(["1"], bundleID: World.booksBundle), Self.product, "environment_mismatch"),
                (try Self.receipt(["1"], bundleID: "com.example.stranger"), Self.product, "app_mismatch"),
                (try World().sign(), Self.product, "product_not_in_receipt"),
            ]
            let outcomes = try session.run(try cases.map { try Self.submission($0.text, product: $0.product) })
            for (expected, outcome) in zip(cases, outcomes) {
                let answer = try outcome.answer
                #expect(answer?.status == .refused && answer?.code == .appleTransactionVerifyFailed)
                #expect(answer?.reason == expected.reason)
                #expect(answer?.mayFinish == false)
            }
            #expect(try verification.count("receipts") == 0)
            #expect(try verification.count("quarantine") == Int64(cases.count))
        }
    }

    @Test func `a signed transaction handed in as the receipt is verified as one`() async throws {
        try await VerificationDatabase.with("receipt_is_jws") { verification in
            var session = try verification.open()
            let outcomes = try session.run([try Self.submission(World().sign(), product: "com.example.game.coins")])
            let fact = try #require(outcomes.first?.facts.first)
            let message = try MessageCoding.decode(PurchaseVerified.self, from: fact.body)
            #expect(message.transactions.map(\.transactionID) == [TransactionID("2000000000000001")])
            #expect(!message.transaction.isFromReceipt)
            #expect(try verification.count("evidence") == 1)
        }
    }
}
