import Messages

/// What a notification may do to a purchase that is not delivered yet. Of one that is delivered the newest signed
/// statement decides, whichever notification brought it.
enum NotificationEffect: Sendable {
    /// Apple says that it was bought, goes on, or is paid after all: it is delivered to the owner that its token proves.
    case claims
    /// The statement is kept, and reaches whoever the purchase is bound to. Nothing is delivered on account of it alone:
    /// a refund must not be what grants the purchase it takes back.
    case records
    /// It speaks of no purchase, or this version does not know what it means: no effect until it is told again.
    case none
}

extension AppleNotificationType {
    /// What it may do. Meanings: Apple, notificationType.
    var effect: NotificationEffect {
        switch self {
        case .oneTimeCharge, .subscribed, .didRenew, .offerRedeemed, .didChangeRenewalPref, .renewalExtended,
            .refundReversed:
            .claims
        case .refund, .refundDeclined, .revoke, .consumptionRequest, .expired, .gracePeriodExpired, .didFailToRenew,
            .didChangeRenewalStatus, .priceIncrease, .priceChange, .metadataUpdate, .migration:
            .records
        case .test, .renewalExtension, .externalPurchaseToken, .rescindConsent: .none
        }
    }

    /// Whether it tells of a refund, so that its statement is kept even if it takes nothing back.
    var tellsOfRefund: Bool {
        switch self {
        case .refund, .refundReversed, .refundDeclined, .revoke: true
        default: false
        }
    }
}

/// The notification that brought a statement.
struct NotificationSource: Sendable, Equatable {
    /// Apple's id, lower-case UUID text.
    var uuid: String
    /// What kind.
    var type: AppleNotificationType
}
