/// DecodedRealtimeRequestBody: Apple asks which message to show a customer who wants to cancel.
///
/// Source: https://developer.apple.com/documentation/retentionmessaging. All fields are required there.
public struct RealtimeRequestPayload: Sendable, Equatable {
    /// The subscription.
    public let originalTransactionID: String
    /// Apple's number of the app; there is no bundle id.
    public let appAppleID: Int64
    /// The product.
    public let productID: String
    /// The customer's locale.
    public let userLocale: String
    /// The request's id.
    public let requestIdentifier: AppStoreUUID
    /// When it was signed, in ms since 1970.
    public let signedDate: Int64
    /// Apple's text.
    public let environment: String

    init(_ fields: PayloadFields) throws(VerificationFailure) {
        guard let originalTransactionID = try fields.identifier("originalTransactionId") else {
            throw fields.failure("originalTransactionId", "is missing")
        }
        self.originalTransactionID = originalTransactionID
        guard let appAppleID = try fields.integer("appAppleId") else {
            throw fields.failure("appAppleId", "is missing")
        }
        self.appAppleID = appAppleID
        productID = try fields.requiredText("productId")
        userLocale = try fields.requiredText("userLocale")
        guard let requestIdentifier = try fields.uuid("requestIdentifier") else {
            throw fields.failure("requestIdentifier", "is missing")
        }
        self.requestIdentifier = requestIdentifier
        guard let signedDate = try fields.date("signedDate") else { throw fields.failure("signedDate", "is missing") }
        self.signedDate = signedDate
        environment = try fields.requiredText("environment")
    }
}

extension SignedDataVerifier {
    /// Verifies a retention message request; `now` in ms. Its app is told by the Apple id.
    public mutating func verifyRealtimeRequest(
        _ jws: [UInt8], now: Int64
    ) throws(VerificationFailure) -> VerifiedPayload<RealtimeRequestPayload> {
        let data = try authenticate(jws, as: .realtimeRequest, now: now)
        let payload = try RealtimeRequestPayload(PayloadFields(object: data.object, now: now))
        let app = try apps.app(appAppleID: payload.appAppleID)
        let environment = try apps.environment(payload.environment, for: app)
        return Self.verified(payload, data, environment, app)
    }
}
