/// What Apple signed about a purchase, as whoever compares books needs it: no person, no token, no signature.
public struct PurchaseStatement: Codable, Sendable, Equatable {
    /// The first purchase of its chain.
    public var originalTransactionID: TransactionID
    /// One per Apple account and app.
    public var appTransactionID: String?
    /// The app's bundle id; nil from versions before it was told.
    public var bundleID: String?
    /// What was bought.
    public var productID: ProductID
    /// Apple's name of the type; empty where a receipt does not tell.
    public var productType: String
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var ownership: String
    /// Units bought.
    public var quantity: Int64
    /// When it was bought (ms since 1970).
    public var purchaseDate: Int64
    /// When Apple signed this (ms since 1970); newer statements win.
    public var signedDate: Int64
    /// When it was refunded or revoked (ms since 1970).
    public var revocationDate: Int64?
    /// How much is taken back, in thousandths of a per cent.
    public var revokedShare: Int64
    /// Price in milliunits of `currency`, for statistics.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    /// ISO 3166-1 alpha-3.
    public var storefront: String?

    /// Takes over what a verified transaction says.
    public init(_ transaction: VerifiedTransaction) {
        originalTransactionID = transaction.originalTransactionID
        appTransactionID = transaction.appTransactionID
        bundleID = transaction.bundleID
        productID = transaction.productID
        productType = transaction.productType
        ownership = transaction.ownership
        quantity = transaction.quantity
        purchaseDate = transaction.purchaseDate
        signedDate = transaction.signedDate
        revocationDate = transaction.revocationDate
        revokedShare = transaction.revokedShare
        price = transaction.price
        currency = transaction.currency
        storefront = transaction.storefront
    }
}
