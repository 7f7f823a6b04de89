public import JSON

/// A notification (version 2) to be signed; dates are ms since 1970.
public struct SimulatedNotification: Sendable {
    /// For example `REFUND`.
    public var type: String
    /// Details.
    public var subtype: String?
    /// Key; repeated notifications repeat it.
    public var uuid: String
    /// The app.
    public var bundleID: String
    /// Sent in Production.
    public var appAppleID: Int64?
    /// `Production`, `Sandbox`, or what is never accepted.
    public var environment: String
    /// When it is signed.
    public var signedDate: Int64
    /// Signed transaction to put inside.
    public var signedTransactionInfo: String?
    /// Signed renewal info to put inside.
    public var signedRenewalInfo: String?
    /// Why a customer asks for money back.
    public var consumptionRequestReason: String?
    /// State of a subscription.
    public var status: Int64?
    /// Set last, so they may override any top-level field; null takes it away.
    public var overrides: JSONObject = [:]

    /// Describes a notification about one purchase.
    public init(
        type: String, subtype: String? = nil, uuid: String, bundleID: String, appAppleID: Int64? = nil,
        environment: String = "Production", signedDate: Int64, signedTransactionInfo: String? = nil,
        signedRenewalInfo: String? = nil
    ) {
        self.type = type
        self.subtype = subtype
        self.uuid = uuid
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
        self.signedDate = signedDate
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
    }

    /// The payload's JSON with the fields that are set.
    public var json: JSONObject {
        var data: JSONObject = ["environment": .string(environment), "bundleId": .string(bundleID)]
        data.set("bundleVersion", "1.0")
        if let appAppleID { data.set("appAppleId", .integer(appAppleID)) }
        if let signedTransactionInfo { data.set("signedTransactionInfo", .string(signedTransactionInfo)) }
        if let signedRenewalInfo { data.set("signedRenewalInfo", .string(signedRenewalInfo)) }
        if let consumptionRequestReason { data.set("consumptionRequestReason", .string(consumptionRequestReason)) }
        if let status { data.set("status", .integer(status)) }
        var object: JSONObject = ["notificationType": .string(type)]
        if let subtype { object.set("subtype", .string(subtype)) }
        object.set("notificationUUID", .string(uuid))
        object.set("data", .object(data))
        object.set("version", "2.0")
        object.set("signedDate", .integer(signedDate))
        for (key, value) in overrides.members { object.set(key, value) }
        return JSONObject(object.members.filter { !$0.value.isNull })
    }
}
