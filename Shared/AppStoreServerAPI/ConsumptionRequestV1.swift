public import JSON

/// The older form, which purchases of Advanced Commerce still need. Numbers are Apple's; 0 declares nothing.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequestv1.
public struct ConsumptionRequestV1: Sendable, Equatable {
    /// How much of it was used.
    public enum ConsumptionStatus: Int64, Sendable {
        case undeclared = 0
        case notConsumed = 1
        case partiallyConsumed = 2
        case fullyConsumed = 3
    }

    /// Whether it was delivered.
    public enum DeliveryStatus: Int64, Sendable {
        case deliveredAndWorking = 0
        case qualityIssue = 1
        case wrongItem = 2
        case serverOutage = 3
        case currencyChange = 4
        case other = 5
    }

    /// What the app would rather have.
    public enum RefundPreference: Int64, Sendable {
        case undeclared = 0
        case preferGrant = 1
        case preferDecline = 2
        case noPreference = 3
    }

    /// The UUID the app passed to StoreKit; nil is sent as an empty text.
    public var appAccountToken: String?
    /// Whether the customer could try it before.
    public var sampleContentProvided: Bool
    /// How much of it was used.
    public var consumptionStatus: ConsumptionStatus
    /// Whether it was delivered.
    public var deliveryStatus: DeliveryStatus
    /// What the app would rather have.
    public var refundPreference: RefundPreference
    /// Apple's bracket of the age of the account, 0…7.
    public var accountTenure: Int64 = 0
    /// Apple's bracket of the time of play, 0…7.
    public var playTime: Int64 = 0
    /// Apple's bracket of what the customer bought, 0…7.
    public var lifetimeDollarsPurchased: Int64 = 0
    /// Apple's bracket of what was refunded, 0…7.
    public var lifetimeDollarsRefunded: Int64 = 0
    /// 1 active, 2 suspended, 3 terminated, 4 limited.
    public var userStatus: Int64 = 0

    /// The fields that follow from the books; the rest declares nothing.
    public init(
        appAccountToken: String?, sampleContentProvided: Bool, consumptionStatus: ConsumptionStatus,
        deliveryStatus: DeliveryStatus, refundPreference: RefundPreference
    ) {
        self.appAccountToken = appAccountToken
        self.sampleContentProvided = sampleContentProvided
        self.consumptionStatus = consumptionStatus
        self.deliveryStatus = deliveryStatus
        self.refundPreference = refundPreference
    }

    /// The body as it is sent. The platform is Apple's (1): nothing else is sold through this door.
    public var json: JSONObject {
        [
            "customerConsented": true, "consumptionStatus": .integer(consumptionStatus.rawValue), "platform": 1,
            "sampleContentProvided": .bool(sampleContentProvided),
            "deliveryStatus": .integer(deliveryStatus.rawValue),
            "appAccountToken": .string(appAccountToken ?? ""), "accountTenure": .integer(accountTenure),
            "playTime": .integer(playTime), "lifetimeDollarsRefunded": .integer(lifetimeDollarsRefunded),
            "lifetimeDollarsPurchased": .integer(lifetimeDollarsPurchased), "userStatus": .integer(userStatus),
            "refundPreference": .integer(refundPreference.rawValue),
        ]
    }
}
