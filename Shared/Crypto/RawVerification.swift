import COpenSSL

/// `EVP_PKEY_verify` alone, on a digest and a DER signature made beforehand: the speed of light that benchmarks compare
/// verification with. Belongs to one thread.
package final class RawVerification {
    /// The curves of Apple's chains.
    package enum Curve {
        /// Signs data.
        case p256
        /// Signs certificates.
        case p384
    }

    private let key: ECKey
    private let context: OpaquePointer
    private let digest: [UInt8]
    private let signature: [UInt8]

    /// A new key and one signature by it.
    package init(_ curve: Curve) throws(CryptoError) {
        let key = try ECKey.generate(curve == .p256 ? .p256 : .p384)
        // SHA-256 on P-256, SHA-384 on P-384, as Apple's chains do.
        digest = try RandomBytes.generate(curve == .p256 ? 32 : 48)
        signature = try Self.sign(digest, key)
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw OpenSSLErrorQueue.failure("verification context")
        }
        guard EVP_PKEY_verify_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            throw OpenSSLErrorQueue.failure("verification context")
        }
        self.key = key
        self.context = context
    }

    deinit { EVP_PKEY_CTX_free(context) }

    /// One verification; false would be a broken OpenSSL.
    package func run() -> Bool { EVP_PKEY_verify(context, signature, signature.count, digest, digest.count) == 1 }

    private static func sign(_ digest: [UInt8], _ key: ECKey) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw OpenSSLErrorQueue.failure("signing context")
        }
        defer { EVP_PKEY_CTX_free(context) }
        // A DER signature on P-384 has at most 104 bytes.
        var signature = [UInt8](repeating: 0, count: 128)
        var length = signature.count
        guard EVP_PKEY_sign_init(context) == 1,
            EVP_PKEY_sign(context, &signature, &length, digest, digest.count) == 1
        else { throw OpenSSLErrorQueue.failure("signing") }
        return Array(signature.prefix(length))
    }
}
