import AppStore
import AppStoreSimulation
import LegacyReceipts
import Messages
import Observability
import Pipeline
import TestSupport
import Testing
import Trust

@testable import Control
@testable import Granting
@testable import Verification

/// The audit of purchases that receipts brought.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AuditReceiptTests {
    @Test func `receipts are proof too, alone and beside a signed transaction (R28)`() async throws {
        try await AuditHistory.copy { audited in
            let alice = AuditedDatabase.alice
            try audited.receipt([("51", nil), ("52", nil)], minute: 1, by: alice)
            // Refunded by a later receipt; and one that a signed transaction brought is refunded by a receipt.
            try audited.receipt([("51", 2), ("52", nil)], minute: 2, by: alice)
            try audited.purchase([AuditedDatabase.statement("53")], by: alice)
            try audited.receipt([("53", 3)], minute: 3, by: alice)
            let (code, lines) = audited.audit("--full")
            #expect(code == 0, "\(lines.joined(separator: "\n"))")
            try audited.corrupt("DELETE FROM verification.receipt_purchases WHERE transaction_id = '52'")
            let report = try audited.report()
            #expect(report.failed == ["purchases.proof"], "\(report.lines.joined(separator: "\n"))")
        }
    }
}

extension AuditedDatabase {
    static func receiptVerifier(_ authority: SimulatedAuthority) throws -> ReceiptVerifier {
        try ReceiptVerifier(
            apps: [AcceptedApp(id: app.rawValue, bundleIDs: [bundleID])], roots: [authority.root])
    }

    /// A receipt made `minute` minutes after its purchases, of which some were cancelled; handed in and decided.
    func receipt(_ purchases: [(id: String, cancelledAt: Int64?)], minute: Int64, by user: UserID) throws {
        let authority = try Self.authority.get()
        let signer = ReceiptSigner(try authority.receipts ?? ReceiptAuthority.generate())
        let bought = WallClock.milliseconds / 1_000 * 1_000 - 3_600_000
        let text = try signer.text(
            SimulatedReceipt(
                bundleID: Self.bundleID, creationDate: bought + minute * 60_000 + 60_000,
                purchases: purchases.map {
                    SimulatedReceipt.Purchase(
                        transactionID: $0.id, productID: "coins60", purchaseDate: bought,
                        cancellationDate: $0.cancelledAt.map { bought + $0 * 60_000 })
                }, receiptType: "Production"))
        let handler = VerifyPurchases(
            verifier: try Self.verifier(authority), receipts: try Self.receiptVerifier(authority), metrics: Metrics(),
            logger: .silent, revocation: .off)
        let submission = try Self.incoming(
            PurchaseSubmitted(app: Self.app, userID: user, receipt: text, productID: ProductID("coins60")))
        let facts = try run(handler, [submission], "verification")
        let batch = facts.map { fact in
            Incoming(
                header: MessageHeader(
                    id: fact.id, type: fact.type, version: fact.version, occurredAt: fact.occurredAt,
                    correlationID: fact.correlationID), body: fact.body, isRedelivered: false)
        }
        _ = try decide(batch, by: GrantPurchases())
    }
}
