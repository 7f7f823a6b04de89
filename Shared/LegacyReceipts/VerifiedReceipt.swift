public import AppStore
import Crypto

/// A receipt that passed every check.
public struct VerifiedReceipt: Sendable, Equatable {
    /// What it says.
    public let receipt: AppReceipt
    /// Production or Sandbox.
    public let environment: AppStoreEnvironment
    /// The deployment's app that the bundle id belongs to.
    public let appID: String
    /// Who signed.
    public let signer: SignerInfo
    /// The container, to be kept as proof.
    public let bytes: [UInt8]

    /// SHA-256 of ``bytes``. Never a key: the same receipt can be wrapped in other bytes by anybody.
    public var sha256: [UInt8] { SHA256.hash(bytes) }

    /// The purchases of one product that nothing has taken back, each once.
    public func purchases(of productID: String) -> [InAppPurchase] {
        var seen = Set<String>()
        return receipt.purchases.filter { $0.productID == productID && seen.insert($0.transactionID).inserted }
    }

    /// Compared by what was signed.
    public static func == (left: VerifiedReceipt, right: VerifiedReceipt) -> Bool {
        left.bytes == right.bytes && left.appID == right.appID
    }
}
