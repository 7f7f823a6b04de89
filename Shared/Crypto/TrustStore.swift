import COpenSSL

/// Why a chain of certificates is not trusted.
public enum ChainFailure: Error, Sendable, Equatable {
    /// No path to a trusted root, or a signature on it is wrong; the reason is OpenSSL's.
    case untrusted(reason: String)
    /// A certificate on the path may not be used so: no authority, path too long, wrong key usage, unknown
    /// critical extension.
    case constraint(reason: String)
    /// A certificate on the path was not valid at the time asked for.
    case time(subject: String, validity: Certificate.Validity, at: Int64)
    /// OpenSSL could not do its work (memory).
    case operationFailed(reason: String)
}

/// A path from a leaf to a trusted root that was checked at one time. Immutable; any thread.
public struct CertificateChain: Sendable {
    /// Leaf first, root last, as the check built it.
    public let certificates: [Certificate]
    /// The time in which all of them are valid.
    public let validity: Certificate.Validity
}

/// The roots that are believed, and the check of chains against them (RFC 5280 §6). Any thread.
public final class TrustStore: Sendable {
    /// Clocks differ: how many seconds before and after its validity a certificate still counts.
    public static let clockSkew: Int64 = 60

    /// Unsafe for the compiler only: filled in `init`, then only read; OpenSSL locks it for look-ups.
    nonisolated(unsafe) private let store: OpaquePointer
    private let roots: [Certificate]

    /// Trusts exactly `roots`, which must not be empty.
    public init(roots: [Certificate]) throws(CryptoError) {
        guard !roots.isEmpty else { throw .invalidCertificate(reason: "a trust store needs at least one root") }
        guard let store = X509_STORE_new() else { throw OpenSSLErrorQueue.failure("trust store") }
        self.store = store
        self.roots = roots
        for root in roots {
            guard X509_STORE_add_cert(store, root.handle.pointer) == 1 else {
                throw OpenSSLErrorQueue.failure("adding a root")
            }
        }
    }

    deinit { X509_STORE_free(store) }

    /// Builds the path from `leaf` over `intermediates` to one of the roots and checks it at `time`
    /// (seconds since 1970).
    ///
    /// OpenSSL checks names, signatures, path lengths and critical extensions. Its strict mode stays off,
    /// because it refuses chains without key identifiers; what matters of it is checked here in so many words:
    /// every issuer is an authority allowed to sign certificates, the leaf is none and may sign data, and every
    /// certificate is valid at `time` with `skew` seconds of tolerance.
    public func verify(
        leaf: Certificate, intermediates: [Certificate], at time: Int64, skew: Int64 = TrustStore.clockSkew
    ) throws(ChainFailure) -> CertificateChain {
        let chain = try buildPath(leaf: leaf, intermediates: intermediates, at: time)
        try Self.checkConstraints(chain)
        var validity = leaf.validity
        for certificate in chain {
            guard certificate.validity.contains(time, skew: skew) else {
                throw .time(subject: certificate.subject, validity: certificate.validity, at: time)
            }
            validity = validity.intersection(certificate.validity)
        }
        return CertificateChain(certificates: chain, validity: validity)
    }

    private func buildPath(
        leaf: Certificate, intermediates: [Certificate], at time: Int64
    ) throws(ChainFailure) -> [Certificate] {
        guard let untrusted = OPENSSL_sk_new_null(), let context = X509_STORE_CTX_new() else {
            throw .operationFailed(reason: OpenSSLErrorQueue.drain())
        }
        defer {
            X509_STORE_CTX_free(context)
            OPENSSL_sk_free(untrusted)  // Only the list: the certificates belong to their objects.
        }
        for certificate in intermediates {
            OPENSSL_sk_push(untrusted, UnsafeRawPointer(certificate.handle.pointer))
        }
        guard X509_STORE_CTX_init(context, store, leaf.handle.pointer, untrusted) == 1 else {
            throw .operationFailed(reason: OpenSSLErrorQueue.drain())
        }
        // Times are compared by us, with tolerance; OpenSSL would allow none.
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_NO_CHECK_TIME))
        let result = X509_verify_cert(context)
        guard result == 1 else { throw Self.failure(of: context) }
        let path = X509_STORE_CTX_get0_chain(context)
        // A path is made of what was given, the very objects: reading them anew would cost as much as a signature.
        let known = [leaf] + intermediates + roots
        return try (0..<OPENSSL_sk_num(path)).map { (index) throws(ChainFailure) in
            let pointer = OPENSSL_sk_value(path, index).map { OpaquePointer($0) }
            guard let certificate = known.first(where: { $0.handle.pointer == pointer }) else {
                throw .operationFailed(reason: "the path has a certificate that nobody gave")
            }
            return certificate
        }
    }

    private static func failure(of context: OpaquePointer) -> ChainFailure {
        OpenSSLErrorQueue.clear()
        let code = X509_STORE_CTX_get_error(context)
        let reason = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "unknown"
        switch code {
        case X509_V_ERR_INVALID_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_KEYUSAGE_NO_CERTSIGN,
            X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_EXTENSION,
            X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION:
            return .constraint(reason: reason)
        case X509_V_ERR_OUT_OF_MEM:
            return .operationFailed(reason: reason)
        default:
            return .untrusted(reason: reason)
        }
    }

    private static func checkConstraints(_ chain: [Certificate]) throws(ChainFailure) {
        guard let leaf = chain.first else { throw .untrusted(reason: "empty path") }
        guard !leaf.isCertificateAuthority else { throw .constraint(reason: "the leaf is a certificate authority") }
        if let usage = leaf.keyUsage, !usage.contains(.digitalSignature) {
            throw .constraint(reason: "the leaf may not sign data")
        }
        for (depth, authority) in chain.enumerated().dropFirst() {
            guard authority.isCertificateAuthority else {
                throw .constraint(reason: "an issuer is no certificate authority")
            }
            if let usage = authority.keyUsage, !usage.contains(.certificateSign) {
                throw .constraint(reason: "an issuer may not sign certificates")
            }
            // Authorities below this one, the leaf not counted.
            if let limit = authority.pathLength, depth - 1 > limit {
                throw .constraint(reason: "the path is longer than an authority allows")
            }
        }
    }
}
