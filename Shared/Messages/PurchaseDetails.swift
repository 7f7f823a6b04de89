/// A purchase as Granting's books have it, for whoever compares books: no user id, no token. Times are milliseconds since
/// 1970, shares thousandths of a per cent.
public struct PurchaseDetails: Codable, Sendable, Equatable {
    /// What became of the order that the purchase names.
    public enum OrderStatus: String, Codable, Sendable, CaseIterable {
        /// Delivered by this purchase.
        case completed = "COMPLETED"
        /// Waits.
        case created = "CREATED"
        /// Waits, and its label says expired.
        case expired = "EXPIRED"
        /// Delivered by another purchase.
        case other = "OTHER"
    }

    /// The app.
    public var app: AppID
    /// Whose it is; nil: nobody's.
    public var customer: CustomerID?
    /// What was bought.
    public var productID: ProductID
    /// Units bought.
    public var quantity: Int64
    /// When it was bought.
    public var purchaseDate: Int64
    /// Price in milliunits of `currency`.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    /// ISO 3166-1 alpha-3.
    public var storefront: String?
    /// When the newest statement known was signed.
    public var signedDate: Int64
    /// What that statement takes back.
    public var revokedShare: Int64
    /// The order.
    public var orderNumber: OrderNumber?
    /// What became of it.
    public var orderStatus: OrderStatus?
    /// When it was delivered by itself; nil: not, or by another purchase of its chain.
    public var grantedAt: Int64?
    /// What of it the wallet reflects as taken back; nil where nothing was delivered.
    public var appliedShare: Int64?
    /// When Apple refunded it, by the statement in force.
    public var refundedAt: Int64?
    /// When that was processed first.
    public var refundProcessedAt: Int64?
    /// What it put into the wallet, asset by asset.
    public var amounts: [AssetAmount] = []
    /// What its product gives by the catalogue of then; nil where the catalogue alone does not tell.
    public var expected: [AssetAmount]?
    /// What the ledger has put in for it.
    public var ledger: [AssetAmount] = []
    /// What the ledger has taken out for refunds of it, less what came back.
    public var taken: [AssetAmount] = []
    /// What refunds of it could not take back and is still owed.
    public var owed: [AssetAmount] = []

    /// Composes the required part; the rest is set afterwards.
    public init(
        app: AppID, productID: ProductID, quantity: Int64, purchaseDate: Int64, signedDate: Int64, revokedShare: Int64
    ) {
        self.app = app
        self.productID = productID
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.signedDate = signedDate
        self.revokedShare = revokedShare
    }
}
