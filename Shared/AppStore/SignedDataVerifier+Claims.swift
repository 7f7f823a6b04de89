import JSON

extension SignedDataVerifier {
    /// Verifies a signed transaction (`signedTransactionInfo`, StoreKit's `jwsRepresentation`); `now` in ms.
    public mutating func verifyTransaction(
        _ jws: [UInt8], now: Int64
    ) throws(VerificationFailure) -> TransactionVerification {
        let data = try authenticate(jws, as: .transaction, now: now)
        let fields = PayloadFields(object: data.object, now: now)
        let bundleID = try fields.text("bundleId")
        let app: AcceptedApp? = if let bundleID { try apps.app(bundleID: bundleID) } else { nil }
        let environment = try apps.environment(fields.requiredText("environment"), for: app)
        let payload = try TransactionPayload(fields, quantities: configuration.quantities)
        let verified = Self.verified(payload, data, environment, app)
        return app == nil ? .bundleIDMissing(verified) : .verified(verified)
    }

    /// Verifies signed renewal info; `now` in ms.
    ///
    /// It names no app: its environment must be accepted for some app, and the caller compares
    /// `originalTransactionID` with the transaction it came with.
    public mutating func verifyRenewalInfo(
        _ jws: [UInt8], now: Int64
    ) throws(VerificationFailure) -> VerifiedPayload<RenewalInfoPayload> {
        let data = try authenticate(jws, as: .renewalInfo, now: now)
        let fields = PayloadFields(object: data.object, now: now)
        let environment = try apps.environment(fields.requiredText("environment"), for: nil)
        return Self.verified(try RenewalInfoPayload(fields), data, environment, nil)
    }

    /// Verifies a signed app transaction; `now` in ms.
    public mutating func verifyAppTransaction(
        _ jws: [UInt8], now: Int64
    ) throws(VerificationFailure) -> VerifiedPayload<AppTransactionPayload> {
        let data = try authenticate(jws, as: .appTransaction, now: now)
        let fields = PayloadFields(object: data.object, now: now)
        let app = try apps.app(bundleID: Self.bundleID(in: fields))
        let raw = try fields.requiredText("receiptType")
        try AcceptedApps.check(
            appAppleID: fields.integer("appAppleId"), of: app, in: AppStoreEnvironment(rawValue: raw))
        let environment = try apps.environment(raw, for: app)
        return Self.verified(try AppTransactionPayload(fields), data, environment, app)
    }

    /// Verifies a notification, but not yet the signed data inside it; `now` in ms.
    public mutating func verifyNotificationAlone(
        _ jws: [UInt8], now: Int64
    ) throws(VerificationFailure) -> VerifiedPayload<NotificationPayload> {
        let data = try authenticate(jws, as: .notification, now: now)
        let fields = PayloadFields(object: data.object, now: now)
        guard let subject = try NotificationSubject(fields) else {
            throw VerificationFailure(
                .appUnidentified, .app, "none of data, summary, externalPurchaseToken and appData is present")
        }
        let app = try apps.app(bundleID: Self.bundleID(in: subject.fields))
        try AcceptedApps.check(
            appAppleID: subject.fields.integer("appAppleId"), of: app,
            in: AppStoreEnvironment(rawValue: subject.environment))
        let environment = try apps.environment(subject.environment, for: app)
        return Self.verified(try NotificationPayload(fields), data, environment, app)
    }

    private static func bundleID(in fields: PayloadFields) throws(VerificationFailure) -> String {
        guard let bundleID = try fields.text("bundleId") else {
            throw VerificationFailure(.appUnidentified, .app, "bundleId is missing")
        }
        return bundleID
    }

    static func verified<Payload>(
        _ payload: Payload, _ data: Authenticated, _ environment: AppStoreEnvironment, _ app: AcceptedApp?
    ) -> VerifiedPayload<Payload> {
        VerifiedPayload(
            payload: payload, evidence: data.evidence, environment: environment, signedDate: data.signedDate,
            appID: app?.id, signer: data.signer)
    }
}

/// The part of a notification that names the app and the environment.
struct NotificationSubject {
    /// The first present of the four objects, in Apple's order.
    let fields: PayloadFields
    /// Apple's text; of an external purchase token it is told by the token's id.
    let environment: String

    init?(_ notification: PayloadFields) throws(VerificationFailure) {
        for name in ["data", "summary", "externalPurchaseToken", "appData"] {
            guard let fields = try notification.inner(name) else { continue }
            self.fields = fields
            if name == "externalPurchaseToken" {
                let id = try fields.text("externalPurchaseId") ?? ""
                environment = id.hasPrefix("SANDBOX") ? "Sandbox" : "Production"
            } else {
                // Judged after the app: a missing one is an unknown one.
                environment = try fields.text("environment") ?? ""
            }
            return
        }
        return nil
    }
}
