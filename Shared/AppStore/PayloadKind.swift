public import JSON

/// The kinds of data Apple signs, told apart by their fields: nothing in the header names them.
public enum PayloadKind: String, Sendable, CaseIterable {
    /// JWSTransactionDecodedPayload.
    case transaction
    /// JWSRenewalInfoDecodedPayload.
    case renewalInfo = "renewal info"
    /// ResponseBodyV2DecodedPayload.
    case notification
    /// AppTransaction.
    case appTransaction = "app transaction"
    /// DecodedRealtimeRequestBody.
    case realtimeRequest = "retention message request"

    /// Fields only renewal info has.
    private static let renewalFields = [
        "autoRenewStatus", "autoRenewProductId", "renewalDate", "renewalPrice", "recentSubscriptionStartDate",
        "expirationIntent", "isInBillingRetryPeriod", "priceIncreaseStatus", "gracePeriodExpiresDate",
        "eligibleWinBackOfferIds",
    ]

    /// The kind of a payload, or nil if its fields fit none.
    public static func detect(_ payload: JSONObject) -> PayloadKind? {
        if payload["notificationType"] != nil || payload["notificationUUID"] != nil { return .notification }
        if payload["receiptType"] != nil || payload["receiptCreationDate"] != nil { return .appTransaction }
        if payload["userLocale"] != nil, payload["requestIdentifier"] != nil { return .realtimeRequest }
        if payload["transactionId"] != nil { return .transaction }
        if renewalFields.contains(where: { payload[$0] != nil }) { return .renewalInfo }
        if payload["bundleId"] != nil || payload["purchaseDate"] != nil { return .transaction }
        // Renewal info has no bundle id; every field of it is optional.
        if payload["environment"] != nil, payload["signedDate"] != nil { return .renewalInfo }
        return nil
    }

    /// The field that says when it was signed.
    var signedDateField: String { self == .appTransaction ? "receiptCreationDate" : "signedDate" }

    /// The field that names the environment, where it is at the top.
    var environmentField: String { self == .appTransaction ? "receiptType" : "environment" }
}
