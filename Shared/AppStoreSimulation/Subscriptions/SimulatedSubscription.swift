public import JSON

/// The state of one auto-renewable subscription, as Apple keeps it. Dates are ms since 1970.
public struct SimulatedSubscription: Sendable, Equatable {
    /// Apple's numbers (apps read them in notifications and statuses).
    public enum Status: Int64, Sendable {
        case active = 1
        case expired = 2
        case billingRetry = 3
        case gracePeriod = 4
        case revoked = 5
    }

    /// Subtypes of EXPIRED and what `expirationIntent` says then.
    static let intents = ["VOLUNTARY": 1, "BILLING_RETRY": 2, "PRICE_INCREASE": 3, "PRODUCT_NOT_FOR_SALE": 4]

    /// Key.
    public let originalTransactionID: String
    /// Key.
    public let environment: String
    /// The app.
    public let bundleID: String
    /// Who pays.
    public let appleAccount: String
    /// The group.
    public let groupID: String
    /// Passed along at the first purchase.
    public let appAccountToken: String?
    /// Length of a period in real milliseconds.
    public let period: Int64
    /// Whether it renews by itself.
    public let renewsItself: Bool
    /// When it began.
    public var startDate: Int64
    /// What this period is for.
    public var productID: String
    /// What the next one will be for.
    public var nextProductID: String
    /// Whether the customer wants a next one.
    public var isRenewing = true
    /// How it stands.
    public var status = Status.active
    /// The newest period.
    public var lastTransactionID: String
    /// Its end.
    public var expiresDate: Int64
    /// End of the grace period, while there is one.
    public var gracePeriodExpiresDate: Int64?
    /// Why it ended.
    public var expirationIntent: Int64?
    /// 0 not answered, 1 consented.
    public var priceIncreaseStatus: Int64?

    /// JWSRenewalInfoDecodedPayload, signed at `signedDate`.
    func renewalInfo(signedDate: Int64) -> JSONObject {
        var object: JSONObject = [
            "originalTransactionId": .string(originalTransactionID), "autoRenewProductId": .string(nextProductID),
            "productId": .string(productID), "autoRenewStatus": .integer(isRenewing ? 1 : 0),
            "environment": .string(environment), "signedDate": .integer(signedDate),
            "recentSubscriptionStartDate": .integer(startDate), "renewalDate": .integer(expiresDate),
            "currency": "USD", "renewalPrice": 9990,
        ]
        if status == .billingRetry || status == .gracePeriod { object.set("isInBillingRetryPeriod", true) }
        if let gracePeriodExpiresDate { object.set("gracePeriodExpiresDate", .integer(gracePeriodExpiresDate)) }
        if let expirationIntent { object.set("expirationIntent", .integer(expirationIntent)) }
        if let priceIncreaseStatus { object.set("priceIncreaseStatus", .integer(priceIncreaseStatus)) }
        if let appAccountToken { object.set("appAccountToken", .string(appAccountToken)) }
        return object
    }
}

extension SimulatedSubscription {
    init(_ object: JSONObject) throws(JSONError) {
        originalTransactionID = try object.string("originalTransactionId")
        environment = try object.string("environment")
        bundleID = try object.string("bundleId")
        appleAccount = try object.string("appleAccount")
        groupID = try object.string("groupId")
        appAccountToken = try object.optionalString("appAccountToken")
        period = try object.int64("periodMilliseconds")
        renewsItself = try object.bool("renewsItself")
        startDate = try object.int64("startDate")
        productID = try object.string("productId")
        nextProductID = try object.string("nextProductId")
        isRenewing = try object.bool("renewing")
        guard let status = Status(rawValue: try object.int64("status")) else {
            throw JSONError(.outOfRange, path: "status")
        }
        self.status = status
        lastTransactionID = try object.string("lastTransactionId")
        expiresDate = try object.int64("expiresDate")
        gracePeriodExpiresDate = try object.optionalInt64("gracePeriodExpiresDate")
        expirationIntent = try object.optionalInt64("expirationIntent")
        priceIncreaseStatus = try object.optionalInt64("priceIncreaseStatus")
    }

    /// What the store keeps and answers.
    public var json: JSONObject {
        var object: JSONObject = [
            "originalTransactionId": .string(originalTransactionID), "environment": .string(environment),
            "bundleId": .string(bundleID), "appleAccount": .string(appleAccount), "groupId": .string(groupID),
            "periodMilliseconds": .integer(period), "renewsItself": .bool(renewsItself),
            "startDate": .integer(startDate), "productId": .string(productID),
            "nextProductId": .string(nextProductID), "renewing": .bool(isRenewing),
            "status": .integer(status.rawValue), "lastTransactionId": .string(lastTransactionID),
            "expiresDate": .integer(expiresDate),
        ]
        if let appAccountToken { object.set("appAccountToken", .string(appAccountToken)) }
        if let gracePeriodExpiresDate { object.set("gracePeriodExpiresDate", .integer(gracePeriodExpiresDate)) }
        if let expirationIntent { object.set("expirationIntent", .integer(expirationIntent)) }
        if let priceIncreaseStatus { object.set("priceIncreaseStatus", .integer(priceIncreaseStatus)) }
        return object
    }
}
