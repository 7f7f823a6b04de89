import Crypto
import JOSE

/// The signed bytes themselves: what has to be stored to prove a purchase later.
public struct SignedEvidence: Sendable, Equatable {
    /// The header's text as it was sent; the same for months, so it is worth storing once.
    public let headerSegment: [UInt8]
    /// The payload's JSON bytes as signed.
    public let payload: [UInt8]
    /// The 64 bytes r‖s. Never a key: a second valid signature over the same data can be made by anybody.
    public let signature: [UInt8]
    /// SHA-256 of ``payload``.
    public let payloadSHA256: [UInt8]

    init(headerSegment: [UInt8], payload: [UInt8], signature: [UInt8], payloadSHA256: [UInt8]) {
        self.headerSegment = headerSegment
        self.payload = payload
        self.signature = signature
        self.payloadSHA256 = payloadSHA256
    }

    /// What was stored of it.
    public init(headerSegment: [UInt8], payload: [UInt8], signature: [UInt8]) {
        self.init(
            headerSegment: headerSegment, payload: payload, signature: signature, payloadSHA256: SHA256.hash(payload))
    }

    /// The exact text that was verified.
    public func jws() -> [UInt8] {
        CompactJWS.assemble(headerSegment: headerSegment, payload: payload, signature: signature)
    }
}

/// Who signed: for metrics (days until the certificate ends) and reports.
public struct SignerInfo: Sendable, Equatable {
    /// Subject of the leaf.
    public let subject: String
    /// Its serial number in hexadecimal.
    public let serialNumber: String
    /// Seconds since 1970 until which leaf, intermediate and root are all valid.
    public let validUntil: Int64
    /// Its certificates.
    public let chain: SignerChain

    package init(subject: String, serialNumber: String, validUntil: Int64, chain: SignerChain) {
        self.subject = subject
        self.serialNumber = serialNumber
        self.validUntil = validUntil
        self.chain = chain
    }
}

/// Data that passed every check.
public struct VerifiedPayload<Payload: Sendable>: Sendable {
    /// The decoded fields.
    public let payload: Payload
    /// The signed bytes.
    public let evidence: SignedEvidence
    /// Production or Sandbox.
    public let environment: AppStoreEnvironment
    /// When it was signed, in ms since 1970; nil if the data does not say (old test data only).
    public let signedDate: Int64?
    /// The deployment's app that the signed bundle id belongs to; nil where the data has no bundle id.
    public let appID: String?
    /// Who signed.
    public let signer: SignerInfo
    /// What was checked; made when asked for.
    public var report: VerificationReport {
        VerificationReport(passedExcept: appID == nil ? [.app: "the data does not name an app"] : [:])
    }
}

extension VerifiedPayload: Equatable where Payload: Equatable {}

/// A verified transaction, unless nothing in it says which app it is for.
public enum TransactionVerification: Sendable, Equatable {
    /// For an accepted app, named by the payload's `appID`.
    case verified(VerifiedPayload<TransactionPayload>)
    /// Genuine, but without `bundleId` (rare, old): never to be granted on this alone, never to be lost.
    /// The app comes from the notification around it or from Apple's Get Transaction Info.
    case bundleIDMissing(VerifiedPayload<TransactionPayload>)

    /// The payload in both cases.
    public var transaction: VerifiedPayload<TransactionPayload> {
        switch self {
        case .verified(let transaction), .bundleIDMissing(let transaction): transaction
        }
    }
}

/// A notification whose own signature and those inside it were all verified and agree with each other.
public struct VerifiedNotification: Sendable, Equatable {
    /// The notification itself.
    public let notification: VerifiedPayload<NotificationPayload>
    /// The transaction inside, verified; of the notification's app.
    public let transaction: VerifiedPayload<TransactionPayload>?
    /// The renewal info inside, verified; of the same subscription as the transaction.
    public let renewalInfo: VerifiedPayload<RenewalInfoPayload>?
    /// The app transaction inside, verified; of the notification's app.
    public let appTransaction: VerifiedPayload<AppTransactionPayload>?
}
