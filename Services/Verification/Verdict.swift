import AppStore
import LegacyReceipts
import Messages
import Trust

/// What Verification finds about one submission, before anything is stored or said.
enum Verdict {
    /// Genuine and for the app that was asked.
    case genuine(VerifiedPayload<TransactionPayload>, VerifiedTransaction)
    /// A genuine receipt for the app that was asked, with its purchases of the product: at least one.
    case receipt(VerifiedReceipt, [VerifiedTransaction])
    /// A receipt that nothing can be said about here, with the reason: Apple may know.
    case unjudged(container: [UInt8], reason: String)
    /// Not to be believed, or not for this app: told to the caller, kept in quarantine.
    case refused(AnswerCode, reason: String, SecurityEvent?)
    /// Cannot be told now: the machine's clock, or memory.
    case later(reason: String)
    /// Genuine, but nothing signed says for which app: an operator, or Apple, has to say.
    case unidentified

    /// Judges one signed transaction handed in for `app`.
    static func of(
        _ text: String, for app: AppID, by verifier: inout SignedDataVerifier, now: Int64
    ) -> Verdict {
        do throws(VerificationFailure) {
            switch try verifier.verifyTransaction(Array(text.utf8), now: now) {
            case .bundleIDMissing: return .unidentified
            case .verified(let verified):
                // The signed bundle id decides the app, not the address that was called.
                guard verified.appID == app.rawValue else {
                    return .refused(.appleTransactionVerifyFailed, reason: "app_mismatch", .otherApp)
                }
                return try judge(verified)
            }
        } catch {
            return refusal(error)
        }
    }

    private static func judge(_ verified: VerifiedPayload<TransactionPayload>) throws(VerificationFailure) -> Verdict {
        // Names the field a purchase may not lack; an id of spaces names nothing either.
        let purchase = try verified.payload.purchase()
        guard !purchase.productID.allSatisfy(\.isWhitespace) else {
            return .refused(.appleProductIDEmpty, reason: VerificationFailure.Reason.payloadField.rawValue, nil)
        }
        return .genuine(verified, VerifiedTransaction(verified, purchase))
    }

    /// What is told about data that was refused.
    static func refusal(_ failure: VerificationFailure) -> Verdict {
        if failure.isTransient { return .later(reason: failure.reason.rawValue) }
        switch failure.reason {
        case .appUnidentified: return .unidentified
        case .payloadField:
            let code: AnswerCode =
                switch failure.field {
                case "transactionId": .appleTransactionIDEmpty
                case "productId": .appleProductIDEmpty
                default: .appleTransactionVerifyFailed
                }
            return .refused(code, reason: failure.reason.rawValue, nil)
        case .payloadType, .tooLarge:
            return .refused(.appleTransactionVerifyFailed, reason: failure.reason.rawValue, nil)
        case .environmentMismatch:
            return .refused(.appleTransactionVerifyFailed, reason: failure.reason.rawValue, .sandboxPurchase)
        case .appMismatch:
            return .refused(.appleTransactionVerifyFailed, reason: failure.reason.rawValue, .otherApp)
        default:
            return .refused(.appleTransactionVerifyFailed, reason: failure.reason.rawValue, .forgedEvidence)
        }
    }

    /// The same with what is known about the certificates that signed: only what is genuine can become worse.
    func considering(_ chains: ChainWatch, now: Int64) -> Verdict {
        guard case .genuine(let verified, _) = self else { return self }
        return switch chains.verdict(on: verified.signer.chain, signedDate: verified.signedDate, now: now) {
        case .accepted: self
        case .revoked: Self.refusal(.certificateRevoked)
        case .waits: Self.refusal(.revocationUnknown)
        }
    }
}
