public import JSON

/// JWSRenewalInfoDecodedPayload: the next renewal of a subscription, as signed. Dates are milliseconds since 1970.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload.
/// It has no bundle id: it belongs to the app of the transaction with the same ``originalTransactionID``.
public struct RenewalInfoPayload: Sendable, Equatable {
    /// The subscription.
    public let originalTransactionID: String?
    /// Product of the next period.
    public let autoRenewProductID: String?
    /// Product of this period.
    public let productID: String?
    /// 0 off, 1 on.
    public let autoRenewStatus: Int64?
    /// 1 cancelled, 2 billing error, 3 no consent to a price increase, 4 not available, 5 other, or newer.
    public let expirationIntent: Int64?
    /// Whether Apple still tries to collect.
    public let isInBillingRetryPeriod: Bool?
    /// 0 not answered, 1 consented or not needed.
    public let priceIncreaseStatus: Int64?
    /// End of the grace period.
    public let gracePeriodExpiresDate: Int64?
    /// When this statement was signed; newer ones win.
    public let signedDate: Int64?
    /// Apple's text.
    public let environment: String?
    /// Start of the subscription, short lapses ignored.
    public let recentSubscriptionStartDate: Int64?
    /// When it renews.
    public let renewalDate: Int64?
    /// ISO 4217.
    public let currency: String?
    /// Milliunits of the currency.
    public let renewalPrice: Int64?
    /// 1 introductory, 2 promotional, 3 offer code, 4 win-back, or newer.
    public let offerType: Int64?
    /// Offer's name.
    public let offerIdentifier: String?
    /// Kind of discount.
    public let offerDiscountType: String?
    /// Length of the offer, ISO 8601.
    public let offerPeriod: String?
    /// Best first.
    public let eligibleWinBackOfferIDs: [String]?
    /// The UUID the app passed to StoreKit.
    public let appAccountToken: AppStoreUUID?
    /// One per Apple account and app.
    public let appTransactionID: String?
    /// `BILLED_UPFRONT`, `MONTHLY`, or newer.
    public let renewalBillingPlanType: String?
    /// Left as it is.
    public let commitmentInfo: JSONObject?
    /// Left as it is.
    public let advancedCommerceInfo: JSONObject?

    init(_ fields: PayloadFields) throws(VerificationFailure) {
        originalTransactionID = try fields.identifier("originalTransactionId")
        autoRenewProductID = try fields.text("autoRenewProductId")
        productID = try fields.text("productId")
        autoRenewStatus = try fields.integer("autoRenewStatus")
        expirationIntent = try fields.integer("expirationIntent")
        isInBillingRetryPeriod = try fields.bool("isInBillingRetryPeriod")
        priceIncreaseStatus = try fields.integer("priceIncreaseStatus")
        gracePeriodExpiresDate = try fields.date("gracePeriodExpiresDate")
        signedDate = try fields.date("signedDate")
        environment = try fields.text("environment")
        recentSubscriptionStartDate = try fields.lenientDate("recentSubscriptionStartDate")
        renewalDate = try fields.date("renewalDate")
        currency = try fields.text("currency")
        renewalPrice = try fields.integer("renewalPrice")
        offerType = try fields.integer("offerType")
        offerIdentifier = try fields.text("offerIdentifier")
        offerDiscountType = try fields.text("offerDiscountType")
        offerPeriod = try fields.text("offerPeriod")
        eligibleWinBackOfferIDs = try fields.texts("eligibleWinBackOfferIds")
        appAccountToken = try fields.uuid("appAccountToken")
        appTransactionID = try fields.text("appTransactionId")
        renewalBillingPlanType = try fields.text("renewalBillingPlanType")
        commitmentInfo = try fields.object("commitmentInfo")
        advancedCommerceInfo = try fields.object("advancedCommerceInfo")
    }
}
