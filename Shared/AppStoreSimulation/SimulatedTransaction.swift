public import JSON

/// A transaction to be signed. Every field may be set, also to nonsense; dates are ms since 1970.
public struct SimulatedTransaction: Sendable {
    /// Key of the purchase.
    public var transactionID: String
    /// First of its chain; the same as `transactionID` if nil.
    public var originalTransactionID: String?
    /// Nil leaves the field out, as in rare old transactions.
    public var bundleID: String?
    /// What is bought.
    public var productID: String
    /// Apple's text of the kind.
    public var type: String
    /// Units; nil leaves the field out.
    public var quantity: Int64?
    /// When it is bought.
    public var purchaseDate: Int64
    /// When it is signed; the same as `purchaseDate` if nil.
    public var signedDate: Int64?
    /// End of a subscription's period.
    public var expiresDate: Int64?
    /// Group of a subscription.
    public var subscriptionGroupIdentifier: String?
    /// Period of a subscription.
    public var webOrderLineItemID: String?
    /// The app's UUID for the order or user.
    public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var ownershipType: String
    /// `Production`, `Sandbox`, or what is never accepted.
    public var environment: String
    /// Set to refund.
    public var revocationDate: Int64?
    /// 0 or 1.
    public var revocationReason: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE`.
    public var revocationType: String?
    /// Refunded share in milliunits.
    public var revocationPercentage: Int64?
    /// Superseded by an upgrade.
    public var isUpgraded: Bool?
    /// Milliunits of `currency`.
    public var price: Int64
    /// ISO 4217.
    public var currency: String
    /// ISO 3166-1 alpha-3.
    public var storefront: String
    /// Apple's number of the storefront.
    public var storefrontID: String
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String
    /// Per Apple account and app.
    public var appTransactionID: String?
    /// Set last, so they may override any field.
    public var overrides: JSONObject = [:]

    /// A consumable, bought in Production for US$ 0.99 unless said otherwise.
    public init(
        transactionID: String, bundleID: String?, productID: String, purchaseDate: Int64,
        type: String = "Consumable", environment: String = "Production", quantity: Int64? = 1,
        appAccountToken: String? = nil
    ) {
        self.transactionID = transactionID
        self.bundleID = bundleID
        self.productID = productID
        self.purchaseDate = purchaseDate
        self.type = type
        self.environment = environment
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        ownershipType = "PURCHASED"
        price = 990
        currency = "USD"
        storefront = "USA"
        storefrontID = "143441"
        transactionReason = "PURCHASE"
        appTransactionID = "704285395000000000"
    }

    /// The payload's JSON with the fields that are set.
    public var json: JSONObject {
        var object: JSONObject = ["transactionId": .string(transactionID)]
        object.set("originalTransactionId", .string(originalTransactionID ?? transactionID))
        if let webOrderLineItemID { object.set("webOrderLineItemId", .string(webOrderLineItemID)) }
        if let bundleID { object.set("bundleId", .string(bundleID)) }
        object.set("productId", .string(productID))
        if let group = subscriptionGroupIdentifier { object.set("subscriptionGroupIdentifier", .string(group)) }
        object.set("purchaseDate", .integer(purchaseDate))
        object.set("originalPurchaseDate", .integer(purchaseDate))
        if let expiresDate { object.set("expiresDate", .integer(expiresDate)) }
        if let quantity { object.set("quantity", .integer(quantity)) }
        object.set("type", .string(type))
        if let appAccountToken { object.set("appAccountToken", .string(appAccountToken)) }
        object.set("inAppOwnershipType", .string(ownershipType))
        object.set("signedDate", .integer(signedDate ?? purchaseDate))
        addRevocation(to: &object)
        if let isUpgraded { object.set("isUpgraded", .bool(isUpgraded)) }
        object.set("environment", .string(environment))
        object.set("transactionReason", .string(transactionReason))
        object.set("storefront", .string(storefront))
        object.set("storefrontId", .string(storefrontID))
        object.set("price", .integer(price))
        object.set("currency", .string(currency))
        if let appTransactionID { object.set("appTransactionId", .string(appTransactionID)) }
        for (key, value) in overrides.members { object.set(key, value) }
        return object
    }

    private func addRevocation(to object: inout JSONObject) {
        if let revocationReason { object.set("revocationReason", .integer(revocationReason)) }
        if let revocationDate { object.set("revocationDate", .integer(revocationDate)) }
        if let revocationType { object.set("revocationType", .string(revocationType)) }
        if let revocationPercentage { object.set("revocationPercentage", .integer(revocationPercentage)) }
    }
}
