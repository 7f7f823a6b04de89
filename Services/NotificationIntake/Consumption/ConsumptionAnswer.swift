import AppStoreServerAPI
import JSON
import Messages

/// What Apple is told about a purchase: made of Granting's assessment, in the form the purchase asks for.
enum ConsumptionAnswer: Sendable, Equatable {
    /// Send Consumption Information.
    case current(ConsumptionRequest)
    /// The older form, which Advanced Commerce still takes.
    case older(ConsumptionRequestV1)

    /// The form as it is kept.
    var version: String {
        switch self {
        case .current: "v2"
        case .older: "v1"
        }
    }

    /// The body as it is sent.
    var json: JSONObject {
        switch self {
        case .current(let request): request.json
        case .older(let request): request.json
        }
    }

    /// The answer that an assessment allows; nil without consent. There is no other way to make one.
    init?(_ assessed: ConsumptionAssessed, isAdvancedCommerce: Bool) {
        guard assessed.isAnswered, assessed.isOwned, assessed.hasConsented else { return nil }
        if isAdvancedCommerce {
            self = .older(Self.older(assessed))
        } else if let request = Self.current(assessed) {
            self = .current(request)
        } else {
            return nil
        }
    }

    private static func current(_ assessed: ConsumptionAssessed) -> ConsumptionRequest? {
        func request(_ share: Int64?, _ preference: ConsumptionRequest.RefundPreference?) -> ConsumptionRequest? {
            try? ConsumptionRequest(
                sampleContentProvided: assessed.isSampleProvided,
                deliveryStatus: assessed.isDelivered ? .delivered : .other, consumptionPercentage: share,
                refundPreference: preference)
        }
        let preference: ConsumptionRequest.RefundPreference? =
            switch assessed.preference {
            case .decline: .decline
            case .grantFull: .grantFull
            case .grantProrated: .grantProrated
            case nil: nil
            }
        // A combination that Apple would refuse says less rather than nothing.
        return request(assessed.consumedShare, preference) ?? request(assessed.consumedShare, nil) ?? request(nil, nil)
    }

    private static func older(_ assessed: ConsumptionAssessed) -> ConsumptionRequestV1 {
        let status: ConsumptionRequestV1.ConsumptionStatus =
            switch assessed.consumedShare {
            case nil: .undeclared
            case 0: .notConsumed
            case VerifiedTransaction.wholeShare: .fullyConsumed
            default: .partiallyConsumed
            }
        let preference: ConsumptionRequestV1.RefundPreference =
            switch assessed.preference {
            case .decline: .preferDecline
            case .grantFull, .grantProrated: .preferGrant
            case nil: .undeclared
            }
        var request = ConsumptionRequestV1(
            appAccountToken: assessed.appAccountToken, sampleContentProvided: assessed.isSampleProvided,
            consumptionStatus: status, deliveryStatus: assessed.isDelivered ? .deliveredAndWorking : .other,
            refundPreference: preference)
        request.lifetimeDollarsPurchased = bracket(assessed.dollarsPurchased)
        request.lifetimeDollarsRefunded = bracket(assessed.dollarsRefunded)
        return request
    }

    /// Apple's bracket of an amount in thousandths of a dollar; 0 declares nothing.
    static func bracket(_ milliunits: Int64?) -> Int64 {
        guard let milliunits else { return 0 }
        // 1: nothing, 2: to 49.99, 3: to 99.99, 4: to 499.99, 5: to 999.99, 6: to 1999.99, 7: 2000 and more.
        let limits: [Int64] = [1, 50_000, 100_000, 500_000, 1_000_000, 2_000_000]
        return Int64(limits.firstIndex { milliunits < $0 } ?? limits.count) + 1
    }
}
