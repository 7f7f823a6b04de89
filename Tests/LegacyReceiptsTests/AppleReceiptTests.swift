import AppStore
import AppStoreSimulation
import Crypto
import LegacyReceipts
import Testing

/// Receipts that Apple's tools made. What is in the genuine one belongs to somebody: only its form is told here.
@Suite struct AppleReceiptTests {
    private static let genuine = "receipts/receipt-sandbox-g5.b64"
    /// Apple's roots, and the app that the genuine receipt is for.
    private static func verifier(_ environments: [AppStoreEnvironment] = [.sandbox]) throws -> ReceiptVerifier {
        try ReceiptVerifier(
            apps: [AcceptedApp(id: "app", bundleIDs: ["dev.bonzer.weeka.app"], environments: environments)])
    }

    @Test func `Apple's genuine receipt is verified at its creation date, years later too (C-050)`() throws {
        let bytes = try World.receiptFixture(Self.genuine)
        let verified = try Self.verifier().verify(bytes, now: World.now)
        #expect(verified.environment == .sandbox)
        #expect(verified.receipt.receiptType == "ProductionSandbox")
        #expect(verified.receipt.purchases.count == 2)
        #expect(verified.receipt.purchases.allSatisfy { $0.quantity == 1 && !$0.transactionID.isEmpty })
        let validUntil = try #require(verified.signer).validUntil * 1_000
        #expect(validUntil < World.now, "its signer's certificate has ended since")
        #expect(verified.receipt.creationDate < validUntil)
        let again = try Self.verifier().verify(bytes, now: World.now + 10 * 365 * 86_400_000)
        #expect(again.receipt == verified.receipt)
    }

    @Test func `a sandbox receipt is refused where only Production is accepted (C-055)`() throws {
        let bytes = try World.receiptFixture(Self.genuine)
        let verifier = try Self.verifier([.production])
        let failure = #expect(throws: VerificationFailure.self) { _ = try verifier.verify(bytes, now: World.now) }
        #expect(failure?.reason == .environmentMismatch)
    }

    @Test(arguments: [
        "receipts/receipt-xcode-with-purchases.b64", "apple/xcode/xcode-app-receipt-empty",
        "apple/xcode/xcode-app-receipt-with-transaction",
    ])
    func `what Xcode signs is refused, though it is well-formed (S05)`(name: String) throws {
        let bytes = try World.receiptFixture(name)
        let failure = #expect(throws: VerificationFailure.self) {
            _ = try Self.verifier().verify(bytes, now: World.now)
        }
        #expect(failure?.reason == .chainUntrusted)
        #expect(failure?.code == "appstore.chain_untrusted")
        #expect(failure?.isRetryable == false)
    }

    @Test func `no bit of the genuine receipt's content can be changed (S01)`() throws {
        let bytes = try World.receiptFixture(Self.genuine)
        let verifier = try Self.verifier()
        let genuine = try verifier.verify(bytes, now: World.now)
        var refused = 0
        for place in stride(from: 0, to: bytes.count, by: 3) {
            var changed = bytes
            changed[place] ^= 0x01
            // What the signature does not cover may be other bytes, but never say anything else.
            if let verified = try? verifier.verify(changed, now: World.now) {
                #expect(verified.receipt == genuine.receipt)
            } else {
                refused += 1
            }
        }
        // The root beside the chain, a fifth of the bytes, is not read at all.
        #expect(refused > bytes.count / 3 / 2)
    }

    @Test func `the genuine receipt is not believed under other roots (S02)`() throws {
        let verifier = try ReceiptVerifier(
            apps: [AcceptedApp(id: "app", bundleIDs: ["dev.bonzer.weeka.app"])], roots: [World.shared.get().root])
        let bytes = try World.receiptFixture(Self.genuine)
        let failure = #expect(throws: VerificationFailure.self) { _ = try verifier.verify(bytes, now: World.now) }
        #expect(failure?.reason == .chainUntrusted)
    }
}
