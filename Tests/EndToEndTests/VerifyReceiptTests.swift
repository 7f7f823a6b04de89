import AppStoreSimulation
import JOSE
import JSON
import Messages
import Postgres
import TestSupport
import Testing

/// The whole system with Apple's `verifyReceipt` as a fallback, which the simulator answers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct VerifyReceiptTests {
    /// What a deployment that may ask is called.
    static let name = "verify_receipt"
    private static let bundleID = "com.bujingyun.pyydn"
    private static let product = "pyy_danbing_60"

    /// A receipt that is signed twice, which only Apple can judge.
    private static func receipt(
        _ deployment: Deployment, _ id: String, type: String = "Production", quantity: Int64 = 1
    ) throws -> String {
        let authority = try SimulatedAuthority.load(from: deployment.folder + "/store")
        let receipt = SimulatedReceipt(
            bundleID: bundleID, creationDate: WallClock.milliseconds() - 1_000,
            purchases: [
                SimulatedReceipt.Purchase(
                    transactionID: id, productID: product, purchaseDate: WallClock.milliseconds() - 60_000,
                    quantity: quantity)
            ], receiptType: type)
        let signer = ReceiptSigner(try #require(authority.receipts))
        return Base64.encode(try #require(DoubledSigner.doubled(try signer.sign(receipt))))
    }

    private static func submit(_ deployment: Deployment, _ receipt: String, by user: String) throws {
        let insider = try Insider(deployment)
        try insider.publish([
            try insider.message(
                PurchaseSubmitted(
                    app: AppID("cloudpc"), userID: UserID(user), receipt: receipt, productID: ProductID(product)))
        ])
    }

    private static func expectGranted(_ deployment: Deployment, _ id: String, _ balance: Int64, to user: String) throws
    {
        let books = Books(deployment: deployment)
        try eventually(within: .seconds(60), "it is granted") { try books.grants(id) == 1 }
        #expect(try books.balances(user)["DANBING"] == balance)
    }

    @Test func `a receipt that only Apple can judge is granted once, with Apple's answer as its proof (C-052 C-064)`()
        async throws
    {
        let deployment = try await Deployment.shared(Self.name)
        try await onThread {
            let receipt = try Self.receipt(deployment, "910001", quantity: 2)
            try Self.submit(deployment, receipt, by: "receipts-1")
            try Self.expectGranted(deployment, "910001", 120, to: "receipts-1")
            try Self.submit(deployment, receipt, by: "receipts-1")
            let books = Books(deployment: deployment)
            try eventually(within: .seconds(60), "both questions are decided") {
                try books.number("SELECT count(*) FROM verification.receipt_checks WHERE receipt IS NULL", []) >= 2
            }
            #expect(try books.balances("receipts-1")["DANBING"] == 120, "delivered once")
            #expect(
                try books.number("SELECT count(*) FROM verification.receipt_answers WHERE asked = 'Production'", [])
                    >= 1)
            try books.expectConsistent()
        }
    }

    @Test func `a sandbox receipt is found by one hop, and counts as the sandbox policy says (C-053 C-055 C-099)`()
        async throws
    {
        let deployment = try await Deployment.shared(Self.name)
        try await onThread {
            let listed = try Self.receipt(deployment, "910002", type: "ProductionSandbox")
            try Self.submit(deployment, listed, by: Deployment.tester)
            try Self.expectGranted(deployment, "910002", 60, to: Deployment.tester)
            let other = try Self.receipt(deployment, "910003", type: "ProductionSandbox")
            try Self.submit(deployment, other, by: "receipts-2")
            let books = Books(deployment: deployment)
            try eventually(within: .seconds(60), "it is held") {
                try books.number(
                    "SELECT count(*) FROM granting.transactions WHERE transaction_id = '910003' AND environment = 'Sandbox'",
                    []) == 1
            }
            #expect(try books.grants("910003") == 0)
            #expect(try deployment.metric("purser_verification_receipt_hops_total", of: .verification) >= 2)
            #expect(TextFiles.read(deployment.log(.verification)).contains("\"retry\":\"sandbox\""))
        }
    }

    @Test(
        arguments: [
            ("status", ["status": 21_005]), ("status", ["status": 21_004]), ("unreachable", [:]), ("notJSON", [:]),
            ("slow", ["milliseconds": 5_000]), ("truncated", [:]), ("empty", [:]),
        ] as [(String, JSONObject)])
    func `whatever Apple has, the purchase waits and is granted afterwards (C-052)`(
        mode: String, details: JSONObject
    ) async throws {
        let deployment = try await Deployment.shared(Self.name)
        try await onThread {
            let name = "\(mode)-\(details["status"]?.intValue ?? 0)"
            let id = "92\(abs(name.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) % 100_000_007 }))"
            try deployment.store().failVerifyReceipt(mode, details: details)
            let receipt = try Self.receipt(deployment, id)
            // Slow enough that it must go round the ladder once; meanwhile others are not held up.
            try Self.submit(deployment, receipt, by: name)
            let purchase = try deployment.purchase(Self.product, account: name)
            var backend = try deployment.backend(name)
            #expect(try backend.verify(purchase.signedTransactionInfo, orderNumber: nil).status == "GRANTED")
            try Self.expectGranted(deployment, id, 120, to: name)
        }
    }

    @Test func `a forgery is refused here, and Apple is not asked (S01)`() async throws {
        let deployment = try await Deployment.shared(Self.name)
        try await onThread {
            let books = Books(deployment: deployment)
            let before = try books.number("SELECT count(*) FROM verification.receipt_checks", [])
            let stranger = try ReceiptSigner(try ReceiptAuthority.generate()).text(
                SimulatedReceipt(
                    bundleID: Self.bundleID, creationDate: WallClock.milliseconds() - 1_000,
                    purchases: [
                        SimulatedReceipt.Purchase(
                            transactionID: "910009", productID: Self.product,
                            purchaseDate: WallClock.milliseconds() - 60_000)
                    ], receiptType: "Production"))
            try Self.submit(deployment, stranger, by: "receipts-3")
            try eventually(within: .seconds(60), "it is refused") {
                try books.number("SELECT count(*) FROM verification.quarantine WHERE reason = 'chain_untrusted'", [])
                    == 1
            }
            #expect(try books.number("SELECT count(*) FROM verification.receipt_checks", []) == before)
        }
    }
}
