public import JSON

/// What Apple is told about a purchase whose buyer asks for a refund (API 1.19).
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/consumptionrequest. Only ever sent with the
/// customer's consent: there is no way to make one without it.
public struct ConsumptionRequest: Sendable, Equatable {
    /// Whether it was delivered, and if not, why.
    public enum DeliveryStatus: String, Sendable, CaseIterable {
        case delivered = "DELIVERED"
        case qualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        case wrongItem = "UNDELIVERED_WRONG_ITEM"
        case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
        case other = "UNDELIVERED_OTHER"
    }

    /// What the app would rather have.
    public enum RefundPreference: String, Sendable, CaseIterable {
        case decline = "DECLINE"
        case grantFull = "GRANT_FULL"
        case grantProrated = "GRANT_PRORATED"
    }

    /// Why a combination of values would be refused by Apple.
    public enum Mistake: String, Error, Sendable {
        /// Outside 0…100,000.
        case percentageOutOfRange = "consumption_percentage_out_of_range"
        /// A share of something undelivered.
        case undeliveredPercentage = "undelivered_consumption_percentage_non_zero"
        /// `GRANT_PRORATED` needs a share above 0 and below 100,000.
        case proratedPercentage = "prorated_needs_a_share"
    }

    /// Whether the customer could try it before.
    public let sampleContentProvided: Bool
    /// Whether it was delivered.
    public let deliveryStatus: DeliveryStatus
    /// The consumed share in milliunits, 0…100,000; never for auto-renewable subscriptions.
    public let consumptionPercentage: Int64?
    /// What the app would rather have.
    public let refundPreference: RefundPreference?

    /// A request that Apple's documented rules allow.
    public init(
        sampleContentProvided: Bool, deliveryStatus: DeliveryStatus, consumptionPercentage: Int64? = nil,
        refundPreference: RefundPreference? = nil
    ) throws(Mistake) {
        if let share = consumptionPercentage {
            guard (0...100_000).contains(share) else { throw .percentageOutOfRange }
            guard deliveryStatus == .delivered || share == 0 else { throw .undeliveredPercentage }
        }
        if refundPreference == .grantProrated {
            guard let share = consumptionPercentage, share > 0, share < 100_000 else { throw .proratedPercentage }
        }
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// The body as it is sent.
    public var json: JSONObject {
        var body: JSONObject = [
            "customerConsented": true, "sampleContentProvided": .bool(sampleContentProvided),
            "deliveryStatus": .string(deliveryStatus.rawValue),
        ]
        if let consumptionPercentage { body.set("consumptionPercentage", .integer(consumptionPercentage)) }
        if let refundPreference { body.set("refundPreference", .string(refundPreference.rawValue)) }
        return body
    }
}
