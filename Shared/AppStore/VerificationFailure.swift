public import Crypto

/// Why signed data is refused. Holds nothing of the data but names and numbers a person needs.
public struct VerificationFailure: Error, Sendable, Equatable {
    /// The permanent taxonomy; raw values are stored and never renumbered or renamed.
    public enum Reason: String, Sendable, CaseIterable {
        /// Not three strict base64url segments of strict JSON.
        case format
        /// The algorithm is not ES256.
        case alg
        /// `x5c` does not hold exactly three certificates.
        case chainLength = "chain_length"
        /// A certificate cannot be read.
        case certificate
        /// The chain does not lead to a pinned root, or a certificate on it may not be used so.
        case chainUntrusted = "chain_untrusted"
        /// The chain is Apple's, but not the one that signs App Store data (marker extensions are missing).
        case chainOID = "chain_oid"
        /// A certificate was not valid when the data was signed.
        case chainTime = "chain_time"
        /// The leaf's key is not on P-256.
        case key
        /// The signature is not the leaf key's over this data.
        case signature
        /// The signing certificate has been revoked.
        case revoked
        /// Whether it has been revoked could not be found out.
        case revocationUnavailable = "revocation_unavailable"
        /// Signed for an app that is not accepted here.
        case appMismatch = "app_mismatch"
        /// Genuine, but does not say for which app: to be parked, not dropped.
        case appUnidentified = "app_unidentified"
        /// Signed in an environment that is not accepted here.
        case environmentMismatch = "environment_mismatch"
        /// Another kind of data than was asked for.
        case payloadType = "payload_type"
        /// A field is missing, of the wrong type or out of range.
        case payloadField = "payload_field"
        /// Larger than is accepted.
        case tooLarge = "too_large"
        /// Signed later than now: one of the two clocks is wrong.
        case signedDateInFuture = "signed_date_in_future"
        /// The machine could not do its work (memory, OpenSSL).
        case unavailable
    }

    /// What is wrong.
    public let reason: Reason
    /// The step that found it.
    public let check: VerificationCheck
    /// Particulars for a person: names, numbers, dates.
    public let detail: String
    /// The field of the outer data whose own signed data failed, for example `signedTransactionInfo`.
    public let inside: String?
    /// The name of the field at fault, where `reason` is `payloadField`.
    public let field: String?

    /// Made by those who check: this module, and the one for receipts.
    package init(
        _ reason: Reason, _ check: VerificationCheck, _ detail: String, inside: String? = nil, field: String? = nil
    ) {
        self.reason = reason
        self.check = check
        self.detail = detail
        self.inside = inside
        self.field = field
    }

    /// A field that is missing or not acceptable.
    package static func field(
        _ name: String, _ problem: String, _ check: VerificationCheck = .fields
    ) -> VerificationFailure {
        VerificationFailure(.payloadField, check, "\(name) \(problem)", field: name)
    }

    /// The same failure, found in data that was inside other data.
    public func inside(_ outer: String) -> VerificationFailure {
        VerificationFailure(reason, check, detail, inside: outer, field: field)
    }

    /// A stable dotted name for logs and metrics.
    public var code: String { "appstore.\(reason.rawValue)" }

    /// Whether the same bytes may be accepted later.
    public var isTransient: Bool {
        switch reason {
        case .signedDateInFuture, .revocationUnavailable, .unavailable: true
        default: false
        }
    }

    /// The same by the name all libraries use.
    public var isRetryable: Bool { isTransient }
}

extension VerificationFailure: CustomStringConvertible {
    /// A sentence a person understands, with its particulars.
    public var description: String {
        let place = inside.map { " (in \($0))" } ?? ""
        return "\(reason.sentence)\(place): \(detail)"
    }
}

extension VerificationFailure.Reason {
    /// What the failure means, without particulars.
    public var sentence: String {
        switch self {
        case .format: "This is not well-formed signed data"
        case .alg: "It is signed with an algorithm Apple does not use"
        case .chainLength: "It does not carry the three certificates Apple sends"
        case .certificate: "A certificate in it cannot be read"
        case .chainUntrusted: "Its certificates do not lead to a trusted Apple root"
        case .chainOID: "Its certificates are not those that sign App Store data"
        case .chainTime: "A certificate was not valid when it was signed"
        case .key: "The signing key is of the wrong kind"
        case .signature: "The signature is wrong: the data was changed or signed by somebody else"
        case .revoked: "The signing certificate has been revoked"
        case .revocationUnavailable: "Whether the certificate was revoked could not be found out; try again later"
        case .appMismatch: "It was signed for another app"
        case .appUnidentified: "It does not say for which app it was signed"
        case .environmentMismatch: "It was signed in an environment that is not accepted"
        case .payloadType: "It is signed data of another kind"
        case .payloadField: "A field in it is missing or not acceptable"
        case .tooLarge: "It is too large"
        case .signedDateInFuture: "It is dated in the future; check this machine's clock and try again later"
        case .unavailable: "The check could not be done on this machine; try again later"
        }
    }
}

extension VerificationFailure {
    /// For callers that take any kind of data: this one is none of them.
    public static let unknownKind = VerificationFailure(
        .payloadType, .kind, "its fields fit none of the kinds of data Apple signs")

    /// For callers that demand an app of a transaction that names none.
    public static let bundleIDMissing = VerificationFailure(.appUnidentified, .app, "bundleId is missing")

    /// For callers that know more about the certificates than the data tells: one of them is revoked.
    public static let certificateRevoked = VerificationFailure(
        .revoked, .chain, "Apple has revoked the certificate, or one above it")

    /// For callers that accept nothing before they know that the certificates are not revoked.
    public static let revocationUnknown = VerificationFailure(
        .revocationUnavailable, .chain, "whether the certificates are revoked is not known yet")

    /// For callers that could not even make a verifier.
    public static func unusable(_ error: CryptoError) -> VerificationFailure {
        VerificationFailure(.unavailable, .chain, "\(error)")
    }
}
