import AppStore
import AppStoreSimulation
import JSON
import LegacyReceipts
import TestSupport

/// What a server in the place of Apple's `verifyReceipt` could say. What is accepted keeps the rules of every receipt.
struct ReceiptAnswerTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "\"status\":0", "\"status\":21007", "null", "true", "[]", "{}", "\"\"", "-1", "1e3", "9223372036854775808",
        "\"quantity\":\"2\"", "\"quantity\":101", "\"in_app\":[", "\"environment\":\"Production\"", "\"Sandbox\"",
        "\"receipt_type\":\"Xcode\"", "\"transaction_id\":\"\"", "\\u0000", "253402300800000",
    ]
    private let verifier: ReceiptVerifier
    private static let now: Int64 = 1_796_083_200_000
    private static let bundleID = "com.example.game"

    init(_ files: FuzzFiles) throws {
        verifier = try ReceiptVerifier(apps: [AcceptedApp(id: "game", bundleIDs: [Self.bundleID])])
        let answers = [
            Self.answer(0, "Production"), Self.answer(1, "ProductionSandbox"), Self.answer(40, "Production"),
        ]
        let statuses: [JSONObject] = [["status": 21_007], ["status": 21_105, "is-retryable": true]]
        seeds = (answers + statuses).map { JSONWriter.write($0) } + files.corpus("verify-receipt")
    }

    private static func answer(_ count: Int, _ type: String) -> JSONObject {
        var receipt = SimulatedReceipt(bundleID: bundleID, creationDate: now - 1_000, receiptType: type)
        for number in 0..<count {
            var purchase = SimulatedReceipt.Purchase(
                transactionID: "\(1_000_000 + number)", productID: "gems_\(number % 4)", purchaseDate: now - 60_000,
                quantity: Int64(number % 3 + 1))
            if number % 7 == 6 { purchase.expiresDate = now }
            if number % 5 == 4 { purchase.cancellationDate = now }
            receipt.purchases.append(purchase)
        }
        return receipt.answer
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let answer = try? ReceiptAnswer(input), let receipt = try? answer.appReceipt() else { return false }
        try Violation.unless(
            receipt.purchases.allSatisfy { (1...100).contains($0.quantity) && !$0.transactionID.isEmpty },
            "a purchase without number or with a quantity out of range was read")
        let verified = try? verifier.verify(
            answered: receipt, environment: answer.environment, about: [0x30], now: Self.now)
        guard let verified else { return true }
        try Violation.unless(
            verified.environment.rawValue == answer.environment && receipt.bundleID == Self.bundleID
                && receipt.creationDate <= Self.now + ReceiptVerifier.futureTolerance,
            "a receipt of another app, environment or time was accepted")
        return true
    }
}
