public import JSON

/// What happens to a subscription.
public enum SubscriptionAction: Sendable, Equatable {
    /// The next period is paid.
    case renew
    /// The payment fails; with a grace period of so many seconds, or with none.
    case failBilling(graceSeconds: Int64?)
    /// The grace period ends unpaid.
    case endGrace
    /// The failed payment succeeds after all.
    case recover
    /// Another product from now on.
    case upgrade(productID: String)
    /// Another product from the next period on.
    case downgrade(productID: String)
    /// The change of product is taken back.
    case keepProduct
    /// The customer switches renewal off.
    case cancel
    /// The customer switches renewal on again.
    case enable
    /// It ends, for Apple's reason: `VOLUNTARY`, `BILLING_RETRY`, `PRICE_INCREASE`, `PRODUCT_NOT_FOR_SALE`, or none.
    case expire(reason: String?)
    /// The renewal date is moved by days.
    case extend(days: Int64)
    /// The customer is told of a higher price, and accepts it or has yet to.
    case raisePrice(isAccepted: Bool)
    /// An offer is redeemed while it is active.
    case redeemOffer(identifier: String)
    /// The customer subscribes again after it expired.
    case resubscribe

    /// Reads the body of `POST /simulator/subscriptions/{originalTransactionId}`.
    public init(_ body: JSONObject) throws(StoreError) {
        do throws(JSONError) {
            switch try body.string("action") {
            case "renew": self = .renew
            case "failBilling":
                self = .failBilling(graceSeconds: try body.optionalInt64("graceSeconds", in: 1...2_592_000))
            case "endGrace": self = .endGrace
            case "recover": self = .recover
            case "upgrade": self = .upgrade(productID: try body.string("productId"))
            case "downgrade": self = .downgrade(productID: try body.string("productId"))
            case "keepProduct": self = .keepProduct
            case "cancel": self = .cancel
            case "enable": self = .enable
            case "expire": self = .expire(reason: try body.optionalString("reason"))
            // Apple's limit (ExtendRenewalDateRequest.extendByDays).
            case "extend": self = .extend(days: try body.int64("days", in: 1...90))
            case "raisePrice": self = .raisePrice(isAccepted: try body.optionalBool("accepted") ?? false)
            case "redeemOffer": self = .redeemOffer(identifier: try body.string("offerIdentifier"))
            case "resubscribe": self = .resubscribe
            default: throw JSONError(.outOfRange, path: "action")
            }
        } catch {
            throw .invalid(field: error.path, problem: "is missing or wrong (\(error.code))")
        }
        if case .expire(let reason?) = self, SimulatedSubscription.intents[reason] == nil {
            throw .invalid(field: "reason", problem: "is no subtype of EXPIRED")
        }
    }

    /// The body of `POST /simulator/subscriptions/{originalTransactionId}`, without environment.
    public var json: JSONObject {
        switch self {
        case .renew: ["action": "renew"]
        case .failBilling(let seconds):
            ["action": "failBilling", "graceSeconds": seconds.map { .integer($0) } ?? .null]
        case .endGrace: ["action": "endGrace"]
        case .recover: ["action": "recover"]
        case .upgrade(let product): ["action": "upgrade", "productId": .string(product)]
        case .downgrade(let product): ["action": "downgrade", "productId": .string(product)]
        case .keepProduct: ["action": "keepProduct"]
        case .cancel: ["action": "cancel"]
        case .enable: ["action": "enable"]
        case .expire(let reason): ["action": "expire", "reason": reason.map { .string($0) } ?? .null]
        case .extend(let days): ["action": "extend", "days": .integer(days)]
        case .raisePrice(let isAccepted): ["action": "raisePrice", "accepted": .bool(isAccepted)]
        case .redeemOffer(let identifier): ["action": "redeemOffer", "offerIdentifier": .string(identifier)]
        case .resubscribe: ["action": "resubscribe"]
        }
    }
}
