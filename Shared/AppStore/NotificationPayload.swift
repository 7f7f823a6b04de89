/// ResponseBodyV2DecodedPayload: what Apple tells a server, as signed. Dates are milliseconds since 1970.
///
/// Source: https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload.
/// Signed texts inside it prove nothing until each is verified by itself.
public struct NotificationPayload: Sendable, Equatable {
    /// About one purchase.
    public struct Data: Sendable, Equatable {
        /// Apple's text.
        public let environment: String?
        /// Apple's number of the app; absent in Sandbox.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// Version of the app.
        public let bundleVersion: String?
        /// A signed transaction.
        public let signedTransactionInfo: String?
        /// Signed renewal info.
        public let signedRenewalInfo: String?
        /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked, or newer.
        public let status: Int64?
        /// Why the customer asks for money back.
        public let consumptionRequestReason: String?
    }

    /// About an extension of many renewals.
    public struct Summary: Sendable, Equatable {
        /// Apple's text.
        public let environment: String?
        /// Apple's number of the app.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// Extended product.
        public let productID: String?
        /// Our id of the request.
        public let requestIdentifier: String?
        /// Where.
        public let storefrontCountryCodes: [String]?
        /// Renewals extended.
        public let succeededCount: Int64?
        /// Renewals not extended.
        public let failedCount: Int64?
    }

    /// About a purchase outside the store.
    public struct ExternalPurchaseToken: Sendable, Equatable {
        /// Apple's id; begins with `SANDBOX` in Sandbox.
        public let externalPurchaseID: String?
        /// When it was made.
        public let tokenCreationDate: Int64?
        /// When it ends.
        public let tokenExpirationDate: Int64?
        /// `SERVICES`, `ACQUISITION`, or newer.
        public let tokenType: String?
        /// Apple's number of the app.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
    }

    /// About the app itself.
    public struct AppData: Sendable, Equatable {
        /// Apple's text.
        public let environment: String?
        /// Apple's number of the app.
        public let appAppleID: Int64?
        /// The app.
        public let bundleID: String?
        /// A signed app transaction.
        public let signedAppTransactionInfo: String?
    }

    /// What happened; any text, as Apple adds types.
    public let notificationType: String
    /// Details of it; any text.
    public let subtype: String?
    /// The same for every repetition of a notification: its key, with the environment.
    public let notificationUUID: AppStoreUUID
    /// Format, "2.0".
    public let version: String?
    /// When it was signed.
    public let signedDate: Int64?
    /// One of these four is present.
    public let data: Data?
    /// One of these four is present.
    public let summary: Summary?
    /// One of these four is present.
    public let externalPurchaseToken: ExternalPurchaseToken?
    /// One of these four is present.
    public let appData: AppData?

    init(_ fields: PayloadFields) throws(VerificationFailure) {
        notificationType = try fields.requiredText("notificationType")
        subtype = try fields.text("subtype")
        guard let uuid = try fields.uuid("notificationUUID") else {
            throw fields.failure("notificationUUID", "is missing")
        }
        notificationUUID = uuid
        version = try fields.text("version")
        signedDate = try fields.date("signedDate")
        let data = try fields.inner("data")
        self.data = if let data { try Data(data) } else { nil }
        let summary = try fields.inner("summary")
        self.summary = if let summary { try Summary(summary) } else { nil }
        let token = try fields.inner("externalPurchaseToken")
        externalPurchaseToken = if let token { try ExternalPurchaseToken(token) } else { nil }
        let appData = try fields.inner("appData")
        self.appData = if let appData { try AppData(appData) } else { nil }
    }
}

extension NotificationPayload.Data {
    init(_ fields: PayloadFields) throws(VerificationFailure) {
        environment = try fields.text("environment")
        appAppleID = try fields.integer("appAppleId")
        bundleID = try fields.text("bundleId")
        bundleVersion = try fields.text("bundleVersion")
        signedTransactionInfo = try fields.text("signedTransactionInfo")
        signedRenewalInfo = try fields.text("signedRenewalInfo")
        status = try fields.integer("status")
        consumptionRequestReason = try fields.text("consumptionRequestReason")
    }
}

extension NotificationPayload.Summary {
    init(_ fields: PayloadFields) throws(VerificationFailure) {
        environment = try fields.text("environment")
        appAppleID = try fields.integer("appAppleId")
        bundleID = try fields.text("bundleId")
        productID = try fields.text("productId")
        requestIdentifier = try fields.text("requestIdentifier")
        storefrontCountryCodes = try fields.texts("storefrontCountryCodes")
        succeededCount = try fields.integer("succeededCount")
        failedCount = try fields.integer("failedCount")
    }
}

extension NotificationPayload.ExternalPurchaseToken {
    init(_ fields: PayloadFields) throws(VerificationFailure) {
        externalPurchaseID = try fields.text("externalPurchaseId")
        tokenCreationDate = try fields.lenientDate("tokenCreationDate")
        tokenExpirationDate = try fields.lenientDate("tokenExpirationDate")
        tokenType = try fields.text("tokenType")
        appAppleID = try fields.integer("appAppleId")
        bundleID = try fields.text("bundleId")
    }
}

extension NotificationPayload.AppData {
    init(_ fields: PayloadFields) throws(VerificationFailure) {
        environment = try fields.text("environment")
        appAppleID = try fields.integer("appAppleId")
        bundleID = try fields.text("bundleId")
        signedAppTransactionInfo = try fields.text("signedAppTransactionInfo")
    }
}
