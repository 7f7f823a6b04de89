public import AppStore

/// A receipt that passed every check.
public struct VerifiedReceipt: Sendable, Equatable {
    /// What it says.
    public let receipt: AppReceipt
    /// Production or Sandbox.
    public let environment: AppStoreEnvironment
    /// The deployment's app that the bundle id belongs to.
    public let appID: String
    /// Who signed; nil if Apple was asked, because nobody else could tell.
    public let signer: SignerInfo?
    /// SHA-256 of what was signed; of the whole container if Apple was asked.
    public let contentSHA256: [UInt8]
    /// The container, to be kept as proof. Nothing made of it is a key: anybody can wrap the same content in other bytes.
    public let bytes: [UInt8]

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
