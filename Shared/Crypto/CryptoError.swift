/// What the cryptographic library could not do.
///
/// Descriptions never hold key material or input bytes, only what was attempted and OpenSSL's reason.
public enum CryptoError: Error, Sendable, Equatable {
    /// OpenSSL refused an operation; `reason` is its own text, taken at the failing call.
    case operationFailed(operation: String, reason: String)
    /// The bytes are no key of the wanted kind (format, curve, private instead of public).
    case invalidKey(reason: String)
    /// The bytes are no single DER certificate.
    case invalidCertificate(reason: String)
    /// The text holds no PEM block of the wanted kind, or one that is encrypted.
    case invalidPEM(reason: String)

    /// A stable dotted name for logs and metrics.
    public var code: String {
        switch self {
        case .operationFailed: "crypto.operation_failed"
        case .invalidKey: "crypto.invalid_key"
        case .invalidCertificate: "crypto.invalid_certificate"
        case .invalidPEM: "crypto.invalid_pem"
        }
    }

    /// Nothing here becomes better by trying again.
    public var isRetryable: Bool { false }
}

extension CryptoError: CustomStringConvertible {
    /// One sentence, free of input bytes.
    public var description: String {
        switch self {
        case .operationFailed(let operation, let reason): "\(operation) failed: \(reason)"
        case .invalidKey(let reason): "not a usable key: \(reason)"
        case .invalidCertificate(let reason): "not a certificate: \(reason)"
        case .invalidPEM(let reason): "not a usable PEM text: \(reason)"
        }
    }
}
