import COpenSSL

/// RSASSA-PKCS1-v1_5 with SHA-256: `RS256` of RFC 7518, which many login services sign with.
public enum RSA {
    /// Bits of a modulus at least (RFC 7518 §3.3).
    public static let minimumBits = 2_048
    /// Bits at most: larger ones only make each request slow.
    public static let maximumBits = 8_192

    /// A public key. Immutable; any thread.
    public final class PublicKey: Sendable {
        let key: ECKey

        /// Reads a SubjectPublicKeyInfo (RFC 3279); other kinds and keys shorter than 2,048 bits are refused.
        public init(der: [UInt8]) throws(CryptoError) {
            key = try ECKey.anyPublicKey(der: der)
            guard EVP_PKEY_is_a(key.pointer, "RSA") == 1 else { throw .invalidKey(reason: "the key is no RSA key") }
            let bits = Int(EVP_PKEY_get_bits(key.pointer))
            guard (minimumBits...maximumBits).contains(bits) else {
                throw .invalidKey(reason: "the RSA key has \(bits) bits, \(minimumBits) to \(maximumBits) are accepted")
            }
        }

        /// Reads the first `PUBLIC KEY` block of a PEM text.
        public convenience init(pem: String) throws(CryptoError) {
            guard let block = try PEM.decode(pem).first(where: { $0.label == "PUBLIC KEY" }) else {
                throw .invalidPEM(reason: "no PUBLIC KEY block")
            }
            try self.init(der: block.der)
        }

        /// A key from its two numbers, big-endian, as a JSON Web Key has them (RFC 7518 §6.3.1).
        public convenience init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
            let numbers = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
            try self.init(der: DER.sequence(DER.rsaEncryption + DER.bitString(numbers)))
        }

        /// SubjectPublicKeyInfo bytes.
        public func derRepresentation() throws(CryptoError) -> [UInt8] { try key.publicDER() }

        /// The key as PEM text.
        public func pemRepresentation() throws(CryptoError) -> String {
            PEM.encode(label: "PUBLIC KEY", der: try derRepresentation())
        }

        /// Whether `signature` is this key's over SHA-256 of `message`.
        public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            // PKCS #1 v1.5 is what an RSA key signs with unless told otherwise.
            guard EVP_DigestVerifyInit(context, nil, SHA256.algorithm, nil, key.pointer) == 1 else {
                OpenSSLErrorQueue.clear()
                return false
            }
            let result = message.withUnsafeBytes { bytes in
                EVP_DigestVerify(
                    context, signature, signature.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    bytes.count)
            }
            if result != 1 { OpenSSLErrorQueue.clear() }
            return result == 1
        }
    }

    /// A private key, for tests and demonstrations. Immutable; any thread. Never printed.
    public final class PrivateKey: Sendable, CustomStringConvertible {
        let key: ECKey

        init(_ key: ECKey) { self.key = key }

        /// A new key of 2,048 bits.
        public static func generate() throws(CryptoError) -> PrivateKey {
            guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else {
                throw OpenSSLErrorQueue.failure("key generation")
            }
            defer { EVP_PKEY_CTX_free(context) }
            var pointer: OpaquePointer?
            guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_generate(context, &pointer) == 1, let pointer else {
                throw OpenSSLErrorQueue.failure("key generation")
            }
            return PrivateKey(ECKey(adopting: pointer))
        }

        /// The public half.
        public func publicKey() throws(CryptoError) -> PublicKey { try PublicKey(der: key.publicDER()) }

        /// The signature over SHA-256 of `message`.
        public func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
            guard let context = EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.failure("signing") }
            defer { EVP_MD_CTX_free(context) }
            var length = maximumBits / 8
            var signature = [UInt8](repeating: 0, count: length)
            guard EVP_DigestSignInit(context, nil, SHA256.algorithm, nil, key.pointer) == 1,
                EVP_DigestSign(context, &signature, &length, message, message.count) == 1
            else { throw OpenSSLErrorQueue.failure("signing") }
            return Array(signature.prefix(length))
        }

        /// Says what it is, never what it holds.
        public var description: String { "RSA private key" }
    }
}

/// The few pieces of DER (X.690) that a public key from two numbers needs.
private enum DER {
    /// AlgorithmIdentifier rsaEncryption with NULL parameters (RFC 3279 §2.3.1).
    static let rsaEncryption: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    static func sequence(_ content: [UInt8]) -> [UInt8] { item(0x30, content) }

    static func bitString(_ content: [UInt8]) -> [UInt8] { item(0x03, [0] + content) }

    /// A positive number: no zeros in front, but one where the first bit would make it negative.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return item(0x02, digits)
    }

    private static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
