import AppStore
import AppStoreSimulation
import Crypto
import FoundationEssentials
import JOSE
import LegacyReceipts

/// One authority for receipts, and the production verifier trusting its root.
struct World {
    /// 2026-11-30T00:00:00Z in ms.
    static let now: Int64 = 1_796_083_200_000
    static let bundleID = "com.example.game"
    static let app = AcceptedApp(id: "game", bundleIDs: [bundleID], appAppleID: 1_234)
    /// Made once: the keys do not matter.
    static let shared = Result { try ReceiptAuthority.generate() }

    let authority: ReceiptAuthority
    let signer: ReceiptSigner
    let verifier: ReceiptVerifier

    init(authority: ReceiptAuthority? = nil, app: AcceptedApp = World.app) throws {
        let shared = try Self.shared.get()
        self.authority = authority ?? shared
        signer = ReceiptSigner(self.authority)
        verifier = try ReceiptVerifier(apps: [app], roots: [(authority ?? shared).root])
    }

    static func purchase(_ id: String = "1000000001", _ product: String = "gems_60") -> SimulatedReceipt.Purchase {
        SimulatedReceipt.Purchase(transactionID: id, productID: product, purchaseDate: now - 60_000)
    }

    static func receipt(_ purchases: SimulatedReceipt.Purchase...) -> SimulatedReceipt {
        SimulatedReceipt(
            bundleID: bundleID, creationDate: now - 1_000, purchases: purchases.isEmpty ? [purchase()] : purchases)
    }

    /// Why bytes are refused; nil if they are not.
    func refusal(_ bytes: [UInt8], now: Int64 = World.now) -> VerificationFailure? {
        do throws(VerificationFailure) {
            _ = try verifier.verify(bytes, now: now)
            return nil
        } catch {
            return error
        }
    }

    /// Why a text is refused before anything is verified.
    static func refusal(text: String) -> VerificationFailure? {
        do throws(VerificationFailure) {
            _ = try ReceiptText(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    /// The base64 text of a fixture.
    static func fixture(_ name: String, file: String = #filePath) throws -> [UInt8] {
        let tests = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
        return Array(try Data(contentsOf: tests.appendingPathComponent("Fixtures/\(name)")))
    }

    /// The bytes of a fixture.
    static func receiptFixture(_ name: String) throws -> [UInt8] {
        guard case .receipt(let bytes) = try ReceiptText(fixture(name)) else { return [] }
        return bytes
    }
}
