import AppStoreSimulation
import HTTPClient
import JOSE
import JSON
import LegacyReceipts
import TestSupport
import Testing

@testable import AppStoreSimulator

/// The simulator as Apple's `verifyReceipt`.
@Suite struct VerifyReceiptTests {
    private static func receipt(_ type: String = "ProductionSandbox") -> SimulatedReceipt {
        SimulatedReceipt(
            bundleID: SimulatorStage.bundleID, creationDate: 1_780_000_000_000,
            purchases: [
                SimulatedReceipt.Purchase(
                    transactionID: "1", productID: "coins", purchaseDate: 1_779_999_000_000, quantity: 2)
            ], receiptType: type)
    }

    private static func post(
        _ stage: SimulatorStage, _ path: String, _ body: [UInt8], method: String = "POST"
    ) throws -> HTTPClientResponse {
        var client = try HTTPClient.open()
        return try client.send(HTTPClientRequest(method, stage.base + path, body: body))
    }

    private static func status(_ stage: SimulatorStage, _ path: String, _ receipt: [UInt8]) throws -> Int64? {
        let question: JSONObject = ["receipt-data": .string(Base64.encode(receipt))]
        return try JSONReader.parseObject(try post(stage, path, JSONWriter.write(question)).body)["status"]?.intValue
    }

    @Test func `a receipt is known at its own address and referred to it by the other (C-064 C-099)`() async throws {
        try await SimulatorStage.run { stage in
            let authority = try #require(try stage.authority().receipts)
            let signer = ReceiptSigner(authority)
            let sandbox = try signer.sign(Self.receipt())
            let production = try signer.sign(Self.receipt("Production"))
            #expect(try Self.status(stage, "/verifyReceipt", sandbox) == 21_007)
            #expect(try Self.status(stage, "/sandbox/verifyReceipt", sandbox) == 0)
            #expect(try Self.status(stage, "/sandbox/verifyReceipt", production) == 21_008)
            #expect(try Self.status(stage, "/verifyReceipt", production) == 0)
            let doubled = try #require(DoubledSigner.doubled(production))
            #expect(DoubledSigner.single(doubled) == production && DoubledSigner.single(production) == nil)
            #expect(try Self.status(stage, "/verifyReceipt", doubled) == 0)
            let question: JSONObject = ["receipt-data": .string(Base64.encode(production))]
            let body = try Self.post(stage, "/verifyReceipt", JSONWriter.write(question)).body
            let answer = try ReceiptAnswer(body)
            #expect(answer.environment == "Production")
            #expect(try answer.appReceipt().purchases.map(\.quantity) == [2])
        }
    }

    @Test func `what nobody of its signed, and what is no question, has Apple's numbers`() async throws {
        try await SimulatorStage.run { stage in
            let stranger = try ReceiptSigner(try ReceiptAuthority.generate()).sign(Self.receipt())
            #expect(try Self.status(stage, "/verifyReceipt", stranger) == 21_003)
            #expect(try Self.status(stage, "/verifyReceipt", [1, 2, 3]) == 21_002)
            for (method, body, status) in [
                ("POST", "nonsense", 21_002), ("POST", "{}", 21_002), ("GET", "", 21_000),
            ] as [(String, String, Int64)] {
                let answer = try Self.post(stage, "/verifyReceipt", Array(body.utf8), method: method)
                #expect(try JSONReader.parseObject(answer.body)["status"]?.intValue == status)
            }
        }
    }

    @Test func `faults are served as they are planned, each as often as it was`() async throws {
        try await SimulatorStage.run { stage in
            let authority = try #require(try stage.authority().receipts)
            let receipt = try ReceiptSigner(authority).sign(Self.receipt("Production"))
            let question = JSONWriter.write(["receipt-data": .string(Base64.encode(receipt))] as JSONObject)
            func ask(_ path: String = "/verifyReceipt") throws -> HTTPClientResponse {
                try Self.post(stage, path, question)
            }
            let store = try stage.store()
            try store.failVerifyReceipt("status", details: ["status": 21_009, "count": 2])
            for _ in 1...2 { #expect(try ReceiptAnswer(try ask().body).status == 21_009) }
            #expect(try ReceiptAnswer(try ask().body).status == 0)
            try store.failVerifyReceipt("unreachable", details: ["environment": "Sandbox"])
            #expect(try ask().status == 200)
            #expect(try ask("/sandbox/verifyReceipt").status == 503)
            for mode in ["truncated", "notJSON", "empty"] {
                try store.failVerifyReceipt(mode)
                let body = try ask().body
                #expect((try? ReceiptAnswer(body)) == nil, "\(mode)")
            }
            try store.failVerifyReceipt("slow", details: ["milliseconds": 1])
            #expect(try ReceiptAnswer(try ask().body).status == 0)
            try store.failVerifyReceipt("status", details: ["count": 0])
            #expect(throws: StoreError.self) { try store.failVerifyReceipt("nonsense") }
        }
    }
}
