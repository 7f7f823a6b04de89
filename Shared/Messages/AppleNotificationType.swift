/// The kinds of notification Apple documents (App Store Server Notifications, notificationType), and their routing keys.
///
/// Apple adds kinds without notice: an unknown one travels as ``MessageType/notificationUnrecognised`` with Apple's own
/// text in the body, is kept, counted and can be told again after an upgrade that knows it.
public enum AppleNotificationType: String, CaseIterable, Sendable {
    case subscribed = "SUBSCRIBED"
    case didChangeRenewalPref = "DID_CHANGE_RENEWAL_PREF"
    case didChangeRenewalStatus = "DID_CHANGE_RENEWAL_STATUS"
    case offerRedeemed = "OFFER_REDEEMED"
    case didRenew = "DID_RENEW"
    case expired = "EXPIRED"
    case didFailToRenew = "DID_FAIL_TO_RENEW"
    case gracePeriodExpired = "GRACE_PERIOD_EXPIRED"
    case priceIncrease = "PRICE_INCREASE"
    case refund = "REFUND"
    case refundDeclined = "REFUND_DECLINED"
    case consumptionRequest = "CONSUMPTION_REQUEST"
    case renewalExtended = "RENEWAL_EXTENDED"
    case revoke = "REVOKE"
    case test = "TEST"
    case renewalExtension = "RENEWAL_EXTENSION"
    case refundReversed = "REFUND_REVERSED"
    case externalPurchaseToken = "EXTERNAL_PURCHASE_TOKEN"
    case oneTimeCharge = "ONE_TIME_CHARGE"
    case rescindConsent = "RESCIND_CONSENT"
    case metadataUpdate = "METADATA_UPDATE"
    case migration = "MIGRATION"
    case priceChange = "PRICE_CHANGE"

    /// `notification.` and Apple's name in lower case.
    public var messageType: MessageType { MessageType(rawValue: "notification.\(rawValue.lowercased())") }
}

extension MessageType {
    /// A genuine notification of a kind this version does not know.
    public static let notificationUnrecognised = MessageType(rawValue: "notification.unrecognised")

    /// The routing keys of all genuine notifications.
    public static let notifications =
        AppleNotificationType.allCases.map(\.messageType) + [.notificationUnrecognised]

    /// The routing key for Apple's `notificationType`.
    public static func notification(_ appleType: String) -> MessageType {
        AppleNotificationType(rawValue: appleType)?.messageType ?? .notificationUnrecognised
    }
}
