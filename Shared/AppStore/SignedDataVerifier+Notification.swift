extension SignedDataVerifier {
    /// Verifies a notification and every piece of signed data inside it, each by its own signature, and that they
    /// speak of the same app, environment and subscription; `now` in ms.
    ///
    /// A transaction inside that names no bundle id belongs to the notification's app.
    public mutating func verifyNotification(
        _ jws: [UInt8], now: Int64
    ) throws(VerificationFailure) -> VerifiedNotification {
        let outer = try verifyNotificationAlone(jws, now: now)
        let data = outer.payload.data
        let transaction = try nested(data?.signedTransactionInfo, "signedTransactionInfo") {
            (verifier, text) throws(VerificationFailure) in
            try verifier.verifyTransaction(text, now: now).transaction
        }
        let renewalInfo = try nested(data?.signedRenewalInfo, "signedRenewalInfo") {
            (verifier, text) throws(VerificationFailure) in
            try verifier.verifyRenewalInfo(text, now: now)
        }
        let appTransaction = try nested(outer.payload.appData?.signedAppTransactionInfo, "signedAppTransactionInfo") {
            (verifier, text) throws(VerificationFailure) in
            try verifier.verifyAppTransaction(text, now: now)
        }
        if let transaction { try Self.checkAgreement(transaction, transaction.payload.bundleID, outer) }
        if let renewalInfo { try Self.checkAgreement(renewalInfo, nil, outer) }
        if let appTransaction { try Self.checkAgreement(appTransaction, appTransaction.payload.bundleID, outer) }
        if let theirs = appTransaction?.payload.appAppleID, let ours = outer.payload.appData?.appAppleID, theirs != ours
        {
            throw VerificationFailure(
                .appMismatch, .app, "it names another Apple id than the notification",
                inside: "signedAppTransactionInfo")
        }
        if let subscription = renewalInfo?.payload.originalTransactionID,
            let purchase = transaction?.payload.originalTransactionID, subscription != purchase
        {
            throw VerificationFailure(
                .payloadField, .fields, "it belongs to another subscription than the transaction next to it",
                inside: "signedRenewalInfo")
        }
        return VerifiedNotification(
            notification: outer, transaction: transaction.map { Self.belonging($0, to: outer.appID) },
            renewalInfo: renewalInfo.map { Self.belonging($0, to: outer.appID) }, appTransaction: appTransaction)
    }

    private mutating func nested<Payload>(
        _ text: String?, _ field: String,
        _ verify: (inout SignedDataVerifier, [UInt8]) throws(VerificationFailure) -> VerifiedPayload<Payload>
    ) throws(VerificationFailure) -> VerifiedPayload<Payload>? {
        guard let text else { return nil }
        do {
            return try verify(&self, Array(text.utf8))
        } catch {
            throw error.inside(field)
        }
    }

    private static func checkAgreement<Payload>(
        _ inner: VerifiedPayload<Payload>, _ bundleID: String?, _ outer: VerifiedPayload<NotificationPayload>
    ) throws(VerificationFailure) {
        guard inner.environment == outer.environment else {
            throw VerificationFailure(
                .environmentMismatch, .environment,
                "the notification is of \(outer.environment.rawValue), the data inside of \(inner.environment.rawValue)",
                inside: "the notification")
        }
        let outerBundleID =
            outer.payload.data?.bundleID ?? outer.payload.summary?.bundleID ?? outer.payload.appData?.bundleID
        guard bundleID == nil || bundleID.map({ Array($0.utf8) }) == outerBundleID.map({ Array($0.utf8) }) else {
            throw VerificationFailure(
                .appMismatch, .app, "the data inside is for another bundle id than the notification",
                inside: "the notification")
        }
    }

    /// Data that names no app takes it from the notification around it.
    private static func belonging<Payload>(
        _ inner: VerifiedPayload<Payload>, to appID: String?
    ) -> VerifiedPayload<Payload> {
        VerifiedPayload(
            payload: inner.payload, evidence: inner.evidence, environment: inner.environment,
            signedDate: inner.signedDate, appID: inner.appID ?? appID, signer: inner.signer)
    }
}
