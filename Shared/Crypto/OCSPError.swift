/// Why an answer about revocation says nothing that can be believed (RFC 6960 §3.2).
///
/// Descriptions hold names and numbers only, nothing of the answer's bytes.
public enum OCSPError: Error, Sendable, Equatable {
    /// Longer than is read.
    case tooLarge(limit: Int)
    /// No single DER answer of the basic type; `reason` is OpenSSL's.
    case malformed(reason: String)
    /// The responder gives none: 1 malformed request, 2 internal error, 3 try later, 5 signature wanted, 6 unauthorised.
    case refused(status: Int)
    /// Nobody whose certificate is known is named as the one who answers.
    case responderUnknown
    /// Who answers may not answer for this authority.
    case responderNotAuthorized(reason: String)
    /// The signature is not the responder's over these bytes.
    case signature
    /// Signed over a hash that can be forged (SHA-1, MD5).
    case weakSignature
    /// It speaks of other certificates than the one asked about.
    case otherCertificate
    /// It begins to hold later than now (seconds since 1970).
    case notYetValid(from: Int64)
    /// It has ended (seconds since 1970).
    case stale(since: Int64)
    /// It answers another request than this one.
    case nonceMismatch
    /// It depends on something nobody here understands.
    case criticalExtension
    /// OpenSSL could not do its work (memory).
    case operationFailed(reason: String)

    /// A stable dotted name for logs and metrics.
    public var code: String {
        switch self {
        case .tooLarge: "ocsp.too_large"
        case .malformed: "ocsp.malformed"
        case .refused: "ocsp.refused"
        case .responderUnknown: "ocsp.responder_unknown"
        case .responderNotAuthorized: "ocsp.responder_not_authorized"
        case .signature: "ocsp.signature"
        case .weakSignature: "ocsp.weak_signature"
        case .otherCertificate: "ocsp.other_certificate"
        case .notYetValid: "ocsp.not_yet_valid"
        case .stale: "ocsp.stale"
        case .nonceMismatch: "ocsp.nonce_mismatch"
        case .criticalExtension: "ocsp.critical_extension"
        case .operationFailed: "ocsp.operation_failed"
        }
    }

    /// The next answer may be a better one, whoever sent this.
    public var isRetryable: Bool { true }
}

extension OCSPError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "the answer has more than \(limit) bytes"
        case .malformed(let reason): "no readable answer: \(reason)"
        case .refused(let status): "the responder answers with status \(status)"
        case .responderUnknown: "the answer names a responder whose certificate is not there"
        case .responderNotAuthorized(let reason): "the responder may not answer for this authority: \(reason)"
        case .signature: "the signature is not the responder's"
        case .weakSignature: "the answer is signed over a hash that can be forged"
        case .otherCertificate: "the answer speaks of another certificate"
        case .notYetValid(let from): "the answer holds from \(from) s only"
        case .stale(let since): "the answer has ended at \(since) s"
        case .nonceMismatch: "the answer belongs to another request"
        case .criticalExtension: "the answer has a critical extension that is not understood"
        case .operationFailed(let reason): "the check failed: \(reason)"
        }
    }
}
