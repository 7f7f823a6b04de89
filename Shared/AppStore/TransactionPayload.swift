public import JSON

/// What a transaction is for; Apple may add others, so any text is kept.
public struct ProductType: RawRepresentable, Hashable, Sendable {
    /// Apple's text.
    public let rawValue: String
    /// Keeps any text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Used up, bought again.
    public static let consumable = ProductType(rawValue: "Consumable")
    /// Bought once.
    public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
    /// A period that ends by itself.
    public static let nonRenewing = ProductType(rawValue: "Non-Renewing Subscription")
    /// A period that renews itself.
    public static let autoRenewable = ProductType(rawValue: "Auto-Renewable Subscription")
}

/// Who paid; Apple may add others, so any text is kept.
public struct OwnershipType: RawRepresentable, Hashable, Sendable {
    /// Apple's text.
    public let rawValue: String
    /// Keeps any text.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Bought by this account.
    public static let purchased = OwnershipType(rawValue: "PURCHASED")
    /// Bought by a member of the family: never a reason to grant wallet assets.
    public static let familyShared = OwnershipType(rawValue: "FAMILY_SHARED")
}

/// JWSTransactionDecodedPayload: one purchase, as signed. Dates are milliseconds since 1970.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload.
/// Everything is optional there. What a purchase cannot do without is demanded by ``purchase()``.
public struct TransactionPayload: Sendable, Equatable {
    /// Unique per purchase, renewal or restore.
    public let transactionID: String?
    /// Shared by all renewals of a subscription and all restores of a purchase.
    public let originalTransactionID: String?
    /// Subscriptions: the period, stable across devices.
    public let webOrderLineItemID: String?
    /// May be missing in rare old transactions: then nothing says which app it is for.
    public let bundleID: String?
    /// What was bought.
    public let productID: String?
    /// Group of a subscription.
    public let subscriptionGroupIdentifier: String?
    /// When it was bought.
    public let purchaseDate: Int64?
    /// When the chain of renewals or restores began.
    public let originalPurchaseDate: Int64?
    /// Subscriptions: end of the period.
    public let expiresDate: Int64?
    /// Units; 1 if the field is absent.
    public let quantity: Int64
    /// Kind of product.
    public let type: ProductType?
    /// The UUID the app passed to StoreKit.
    public let appAccountToken: AppStoreUUID?
    /// Who paid.
    public let ownershipType: OwnershipType?
    /// When this statement was signed; newer ones win.
    public let signedDate: Int64?
    /// 0 another reason, 1 an issue in the app.
    public let revocationReason: Int64?
    /// Set when refunded or taken out of the family.
    public let revocationDate: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE`, or newer.
    public let revocationType: String?
    /// Refunded share in milliunits: 100,000 is all of it.
    public let revocationPercentage: Int64?
    /// Superseded by an upgrade.
    public let isUpgraded: Bool?
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back, or newer.
    public let offerType: Int64?
    /// Offer's name.
    public let offerIdentifier: String?
    /// `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`, `ONE_TIME`, or newer.
    public let offerDiscountType: String?
    /// Length of the offer, ISO 8601.
    public let offerPeriod: String?
    /// Apple's text.
    public let environment: String?
    /// ISO 3166-1 alpha-3.
    public let storefront: String?
    /// Apple's number of the storefront.
    public let storefrontID: String?
    /// `PURCHASE`, `RENEWAL`, or newer.
    public let transactionReason: String?
    /// ISO 4217.
    public let currency: String?
    /// Milliunits of the currency. For statistics only: nothing is granted by price.
    public let price: Int64?
    /// One per Apple account and app.
    public let appTransactionID: String?
    /// `BILLED_UPFRONT`, `MONTHLY`, or newer.
    public let billingPlanType: String?
    /// Left as it is.
    public let commitmentInfo: JSONObject?
    /// Left as it is.
    public let advancedCommerceInfo: JSONObject?

    init(_ fields: PayloadFields, quantities: ClosedRange<Int64>) throws(VerificationFailure) {
        transactionID = try fields.identifier("transactionId")
        originalTransactionID = try fields.identifier("originalTransactionId")
        webOrderLineItemID = try fields.text("webOrderLineItemId")
        bundleID = try fields.text("bundleId")
        productID = try fields.text("productId")
        subscriptionGroupIdentifier = try fields.text("subscriptionGroupIdentifier")
        purchaseDate = try fields.date("purchaseDate")
        originalPurchaseDate = try fields.lenientDate("originalPurchaseDate")
        expiresDate = try fields.date("expiresDate")
        quantity = try fields.integer("quantity", in: quantities) ?? 1
        type = try fields.text("type").map(ProductType.init(rawValue:))
        appAccountToken = try fields.uuid("appAccountToken")
        ownershipType = try fields.text("inAppOwnershipType").map(OwnershipType.init(rawValue:))
        signedDate = try fields.date("signedDate")
        revocationReason = try fields.integer("revocationReason")
        revocationDate = try fields.date("revocationDate")
        revocationType = try fields.text("revocationType")
        revocationPercentage = try fields.integer("revocationPercentage", in: 0...100_000)
        isUpgraded = try fields.bool("isUpgraded")
        offerType = try fields.integer("offerType")
        offerIdentifier = try fields.text("offerIdentifier")
        offerDiscountType = try fields.text("offerDiscountType")
        offerPeriod = try fields.text("offerPeriod")
        environment = try fields.text("environment")
        storefront = try fields.text("storefront")
        storefrontID = try fields.text("storefrontId")
        transactionReason = try fields.text("transactionReason")
        currency = try fields.text("currency")
        price = try fields.integer("price")
        appTransactionID = try fields.text("appTransactionId")
        billingPlanType = try fields.text("billingPlanType")
        commitmentInfo = try fields.object("commitmentInfo")
        advancedCommerceInfo = try fields.object("advancedCommerceInfo")
    }
}

extension TransactionPayload {
    /// The fields without which a transaction cannot be granted, stored or ordered in time.
    public struct Purchase: Sendable, Equatable {
        /// Key of the purchase, with the environment.
        public let transactionID: String
        /// First purchase of the chain.
        public let originalTransactionID: String
        /// What was bought.
        public let productID: String
        /// Kind of product.
        public let type: ProductType
        /// Who paid.
        public let ownershipType: OwnershipType
        /// When it was bought, in ms.
        public let purchaseDate: Int64
        /// When it was signed, in ms.
        public let signedDate: Int64
    }

    /// The indispensable fields, or a failure that names the first missing one.
    public func purchase() throws(VerificationFailure) -> Purchase {
        Purchase(
            transactionID: try Self.present(transactionID, "transactionId"),
            originalTransactionID: try Self.present(originalTransactionID, "originalTransactionId"),
            productID: try Self.present(productID, "productId"), type: try Self.present(type, "type"),
            ownershipType: try Self.present(ownershipType, "inAppOwnershipType"),
            purchaseDate: try Self.present(purchaseDate, "purchaseDate"),
            signedDate: try Self.present(signedDate, "signedDate"))
    }

    private static func present<Value>(_ value: Value?, _ name: String) throws(VerificationFailure) -> Value {
        guard let value else { throw .field(name, "is missing") }
        return value
    }
}
