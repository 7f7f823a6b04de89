/// What Apple signed about one purchase, flattened for the services that know no cryptography.
///
/// Field meanings: Apple, JWSTransactionDecodedPayload. Times are milliseconds since 1970 UTC. Enum-like fields keep
/// Apple's raw text, so a value Apple adds tomorrow travels unharmed.
public struct VerifiedTransaction: Codable, Sendable, Equatable {
    /// Production or Sandbox, from the signed claim.
    public var environment: StoreEnvironment
    /// The purchase.
    public var transactionID: TransactionID
    /// The first purchase of a chain of renewals or restores; equals `transactionID` for consumables.
    public var originalTransactionID: TransactionID
    /// Subscriptions: the period, stable across devices.
    public var webOrderLineItemID: String?
    /// The app's bundle id.
    public var bundleID: String
    /// What was bought.
    public var productID: ProductID
    /// `Consumable`, `Non-Consumable`, `Non-Renewing Subscription`, `Auto-Renewable Subscription`; empty where a receipt
    /// does not tell.
    public var productType: String
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var ownership: String
    /// Units bought, at least 1.
    public var quantity: Int64
    /// When it was bought.
    public var purchaseDate: Int64
    /// When the chain began.
    public var originalPurchaseDate: Int64?
    /// Subscriptions: end of the period.
    public var expiresDate: Int64?
    /// When Apple signed this statement; newer statements win.
    public var signedDate: Int64
    /// The token the client passed to StoreKit, lower-case UUID text.
    public var appAccountToken: String?
    /// Set when refunded or revoked.
    public var revocationDate: Int64?
    /// 0 other reason, 1 issue in the app.
    public var revocationReason: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE`.
    public var revocationType: String?
    /// Milliunits of the refunded share: 100,000 = 100 %.
    public var revocationPercentage: Int64?
    /// Superseded by an upgrade.
    public var isUpgraded: Bool?
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String?
    /// Price in milliunits of `currency`; stored for statistics, never used to decide a grant.
    public var price: Int64?
    /// ISO 4217.
    public var currency: String?
    /// ISO 3166-1 alpha-3.
    public var storefront: String?
    /// Subscriptions: the group.
    public var subscriptionGroupID: String?
    /// One per Apple account and app.
    public var appTransactionID: String?
    /// SHA-256 of the signed payload bytes, hex, behind ``receiptMark`` if they are a receipt's; breaks ties between
    /// statements of one millisecond.
    public var payloadHash: String

    /// In front of the hash of a receipt's content.
    public static let receiptMark = "receipt:"

    /// Whether a receipt says so, which tells less than a signed transaction: no type, no token, no price.
    public var isFromReceipt: Bool { payloadHash.hasPrefix(Self.receiptMark) }

    /// The whole of a purchase in milliunits of per cent.
    public static let wholeShare: Int64 = 100_000

    /// How much of the purchase this statement takes back, 0…100,000 milliunits: the named percentage if Apple names
    /// one, all of it if only a revocation date is set.
    public var revokedShare: Int64 {
        guard revocationDate != nil else { return 0 }
        return min(max(revocationPercentage ?? Self.wholeShare, 0), Self.wholeShare)
    }

    /// For facts: without the id that is one Apple account's in one app. Everything else is about the purchase.
    public var withoutAccount: VerifiedTransaction {
        var copy = self
        copy.appTransactionID = nil
        return copy
    }

    /// Composes the required part; optional fields are set afterwards.
    public init(
        environment: StoreEnvironment, transactionID: TransactionID, originalTransactionID: TransactionID,
        bundleID: String, productID: ProductID, productType: String, ownership: String, quantity: Int64,
        purchaseDate: Int64, signedDate: Int64, payloadHash: String
    ) {
        self.environment = environment
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.bundleID = bundleID
        self.productID = productID
        self.productType = productType
        self.ownership = ownership
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.signedDate = signedDate
        self.payloadHash = payloadHash
    }
}
