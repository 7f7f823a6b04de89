/// AppTransaction: the customer's purchase of the app itself, as signed. Dates are milliseconds since 1970.
///
/// Source: https://developer.apple.com/documentation/storekit/apptransaction.
public struct AppTransactionPayload: Sendable, Equatable {
    /// Environment, in this payload under its own name.
    public let receiptType: String?
    /// Apple's number of the app; absent outside Production.
    public let appAppleID: Int64?
    /// The app.
    public let bundleID: String?
    /// Version that asked.
    public let applicationVersion: String?
    /// Apple's number of that version.
    public let versionExternalIdentifier: Int64?
    /// When it was signed.
    public let receiptCreationDate: Int64?
    /// When the app was first bought.
    public let originalPurchaseDate: Int64?
    /// Version that was first bought.
    public let originalApplicationVersion: String?
    /// Base64 hash that binds it to a device.
    public let deviceVerification: String?
    /// Nonce of that hash.
    public let deviceVerificationNonce: AppStoreUUID?
    /// When it was ordered in advance.
    public let preorderDate: Int64?
    /// One per Apple account and app.
    public let appTransactionID: String?
    /// `iOS`, `macOS`, `tvOS`, `visionOS`, or newer.
    public let originalPlatform: String?

    init(_ fields: PayloadFields) throws(VerificationFailure) {
        receiptType = try fields.text("receiptType")
        appAppleID = try fields.integer("appAppleId")
        bundleID = try fields.text("bundleId")
        applicationVersion = try fields.text("applicationVersion")
        versionExternalIdentifier = try fields.integer("versionExternalIdentifier")
        receiptCreationDate = try fields.date("receiptCreationDate")
        originalPurchaseDate = try fields.lenientDate("originalPurchaseDate")
        originalApplicationVersion = try fields.text("originalApplicationVersion")
        deviceVerification = try fields.text("deviceVerification")
        deviceVerificationNonce = try fields.uuid("deviceVerificationNonce")
        preorderDate = try fields.lenientDate("preorderDate")
        appTransactionID = try fields.text("appTransactionId")
        originalPlatform = try fields.text("originalPlatform")
    }
}
