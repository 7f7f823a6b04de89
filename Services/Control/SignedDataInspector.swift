import AppStore
import Crypto
import JSON

/// Runs the services' verifier over data of unknown kind, comparing only with what was asked for.
struct SignedDataInspector {
    /// What verified data says.
    struct Facts {
        /// One fact a line, for a person.
        var lines: [String]
        /// Whether this kind of data names an app.
        var namesApp: Bool
    }

    let roots: [Certificate]
    let options: VerifyOptions

    func inspect(_ bytes: [UInt8]) throws(VerificationFailure) -> Facts {
        var verifier = try verifier(for: [])
        let data = try verifier.authenticate(bytes, now: options.now)
        verifier = try self.verifier(for: [app(claimed: data)])
        let now = options.now
        switch data.kind {
        case .transaction: return try transaction(verifier.verifyTransaction(bytes, now: now))
        case .renewalInfo:
            let info = try verifier.verifyRenewalInfo(bytes, now: now)
            let payload = info.payload
            return facts(
                .renewalInfo, info, namesApp: false,
                [("subscription", payload.originalTransactionID), ("next product", payload.autoRenewProductID)])
        case .notification: return try notification(verifier.verifyNotification(bytes, now: now))
        case .appTransaction:
            let app = try verifier.verifyAppTransaction(bytes, now: now)
            return facts(
                .appTransaction, app,
                [("bundle id", app.payload.bundleID), ("version", app.payload.applicationVersion)])
        case .realtimeRequest:
            let request = try verifier.verifyRealtimeRequest(bytes, now: now)
            return facts(
                .realtimeRequest, request, namesApp: false,
                [("Apple id", String(request.payload.appAppleID)), ("product", request.payload.productID)])
        case nil:
            throw VerificationFailure.unknownKind
        }
    }

    private func verifier(for apps: [AcceptedApp]) throws(VerificationFailure) -> SignedDataVerifier {
        do {
            return try SignedDataVerifier(apps: apps, roots: roots)
        } catch {
            throw VerificationFailure.unusable(error)
        }
    }

    /// The app that was asked for; where nothing was asked, the one the data names, which then fits.
    private func app(claimed data: SignedDataVerifier.Authenticated) -> AcceptedApp {
        let environment = options.environment.flatMap(AppStoreEnvironment.init(rawValue:))
        let bundleID = options.bundleID ?? data.bundleID
        return AcceptedApp(
            id: "asked", bundleIDs: bundleID.map { [$0] } ?? [],
            appAppleID: options.appAppleID ?? data.object["appAppleId"]?.intValue,
            environments: environment.map { [$0] } ?? AppStoreEnvironment.allCases)
    }

    private func transaction(_ result: TransactionVerification) throws(VerificationFailure) -> Facts {
        if case .bundleIDMissing = result, options.bundleID != nil { throw VerificationFailure.bundleIDMissing }
        let payload = result.transaction.payload
        return facts(
            .transaction, result.transaction,
            [
                ("bundle id", payload.bundleID), ("transaction", payload.transactionID),
                ("product", payload.productID), ("quantity", String(payload.quantity)),
                ("revoked at", payload.revocationDate.map { UTCTime.text($0 / 1000) }),
            ])
    }

    private func notification(_ verified: VerifiedNotification) -> Facts {
        let payload = verified.notification.payload
        let type = [payload.notificationType, payload.subtype].compactMap { $0 }.joined(separator: "/")
        var lines: [(String, String?)] = [
            ("type", type), ("notification", payload.notificationUUID.description),
            ("transaction inside", verified.transaction?.payload.transactionID),
        ]
        if verified.renewalInfo != nil { lines.append(("renewal info inside", "verified")) }
        if verified.appTransaction != nil { lines.append(("app transaction inside", "verified")) }
        return facts(.notification, verified.notification, lines)
    }

    private func facts<Payload>(
        _ kind: PayloadKind, _ verified: VerifiedPayload<Payload>, namesApp: Bool = true, _ lines: [(String, String?)]
    ) -> Facts {
        var all: [(String, String?)] = [("kind", kind.rawValue), ("environment", verified.environment.rawValue)]
        all += lines
        all.append(("signed at", verified.signedDate.map { UTCTime.text($0 / 1000) } ?? "not said"))
        all.append(("signed by", verified.signer.subject))
        return Facts(
            lines: all.compactMap { name, value in value.map { "\(name): \(Self.printable($0))" } }, namesApp: namesApp)
    }

    /// Signed text can hold anything, also what a terminal would obey.
    private static func printable(_ text: String) -> String {
        text.unicodeScalars.prefix(200).map { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) ? "?" : String($0) }
            .joined()
    }
}
