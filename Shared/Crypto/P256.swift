import COpenSSL

/// ECDSA on NIST P-256 with SHA-256: `ES256` of RFC 7518.
public enum P256 {
    /// Bytes of a raw signature r‖s.
    public static let signatureByteCount = 64

    /// What a SubjectPublicKeyInfo of an uncompressed point begins with (RFC 5480 §2): lengths, the two object
    /// identifiers, and 04 for "both coordinates follow".
    private static let spkiPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// A public key. Immutable; any thread.
    public final class PublicKey: Sendable {
        let key: ECKey

        init(key: ECKey) { self.key = key }

        /// Reads a SubjectPublicKeyInfo (RFC 5480); a key on another curve is refused.
        public convenience init(der: [UInt8]) throws(CryptoError) {
            self.init(key: try ECKey.publicKey(der: der, curve: .p256))
        }

        /// A key from the coordinates of its point, 32 bytes each, as a JSON Web Key has them (RFC 7518 §6.2.1).
        public convenience init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
            guard x.count == 32, y.count == 32 else {
                throw .invalidKey(reason: "a coordinate of P-256 has 32 bytes")
            }
            try self.init(der: spkiPrefix + x + y)
        }

        /// Reads the first `PUBLIC KEY` block of a PEM text.
        public convenience init(pem: String) throws(CryptoError) {
            guard let block = try PEM.decode(pem).first(where: { $0.label == "PUBLIC KEY" }) else {
                throw .invalidPEM(reason: "no PUBLIC KEY block")
            }
            try self.init(der: block.der)
        }

        /// SubjectPublicKeyInfo bytes.
        public func derRepresentation() throws(CryptoError) -> [UInt8] { try key.publicDER() }

        /// The key as PEM text.
        public func pemRepresentation() throws(CryptoError) -> String {
            PEM.encode(label: "PUBLIC KEY", der: try derRepresentation())
        }

        /// Whether `signature` (64 bytes r‖s) is this key's over SHA-256 of `message`.
        ///
        /// Makes a context of its own; where one key checks many signatures, keep a ``SignatureVerifier``.
        public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool {
            guard let verifier = try? SignatureVerifier(self) else { return false }
            return verifier.isValidSignature(signature, for: message[...])
        }
    }

    /// A key with a context ready to verify: costs one raw P-256 verification and one SHA-256 a call.
    ///
    /// Belongs to one thread at a time: the context is reused.
    public final class SignatureVerifier {
        /// The key that signatures are checked with.
        public let publicKey: PublicKey
        private let context: OpaquePointer

        /// Prepares the context; fails only if OpenSSL is out of memory or without ECDSA.
        public init(_ publicKey: PublicKey) throws(CryptoError) {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, publicKey.key.pointer, nil) else {
                throw OpenSSLErrorQueue.failure("verification context")
            }
            guard EVP_PKEY_verify_init(context) == 1 else {
                EVP_PKEY_CTX_free(context)
                throw OpenSSLErrorQueue.failure("verification context")
            }
            self.publicKey = publicKey
            self.context = context
        }

        deinit { EVP_PKEY_CTX_free(context) }

        /// Whether `signature` (64 bytes r‖s) is the key's over SHA-256 of `message`.
        ///
        /// Any other length, and r or s that are 0 or not below the group order, are simply invalid.
        public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
            isValidSignature(signature, digest: SHA256.hash(message))
        }

        /// Whether `signature` (64 bytes r‖s) is the key's over a SHA-256 `digest`.
        public func isValidSignature(_ signature: [UInt8], digest: [UInt8]) -> Bool {
            guard signature.count == signatureByteCount, digest.count == SHA256.byteCount else { return false }
            let result = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ECDSASignature.maximumDERByteCount) {
                der in
                let length = signature.withUnsafeBytes { ECDSASignature.writeDER(raw: $0, to: der) }
                return EVP_PKEY_verify(context, der.baseAddress, length, digest, digest.count)
            }
            if result != 1 { OpenSSLErrorQueue.clear() }
            return result == 1
        }
    }

    /// A private key. Immutable; any thread. Never printed: descriptions hold no key material.
    public final class PrivateKey: Sendable, CustomStringConvertible {
        let key: ECKey

        init(key: ECKey) { self.key = key }

        /// Reads PKCS#8 or SEC 1 bytes; a key on another curve is refused.
        public convenience init(der: [UInt8]) throws(CryptoError) {
            self.init(key: try ECKey.privateKey(der: der, curve: .p256))
        }

        /// Reads the first private key block of a PEM text (Apple's `.p8` files are such).
        public convenience init(pem: String) throws(CryptoError) {
            try self.init(der: privateKeyBlock(in: pem))
        }

        /// A new key.
        public static func generate() throws(CryptoError) -> PrivateKey {
            PrivateKey(key: try ECKey.generate(.p256))
        }

        /// The public half.
        public func publicKey() throws(CryptoError) -> PublicKey { try PublicKey(der: key.publicDER()) }

        /// PKCS#8 PEM text. Secret: for files with mode 0600 only.
        public func pemRepresentation() throws(CryptoError) -> String {
            PEM.encode(label: "PRIVATE KEY", der: try key.privateDER())
        }

        /// The raw signature r‖s (64 bytes) over SHA-256 of `message`; another one at every call.
        public func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
                throw OpenSSLErrorQueue.failure("signing context")
            }
            defer { EVP_PKEY_CTX_free(context) }
            let digest = SHA256.hash(message)
            var length = ECDSASignature.maximumDERByteCount
            var der = [UInt8](repeating: 0, count: length)
            guard EVP_PKEY_sign_init(context) == 1,
                EVP_PKEY_sign(context, &der, &length, digest, digest.count) == 1,
                let raw = ECDSASignature.raw(der: Array(der.prefix(length)))
            else { throw OpenSSLErrorQueue.failure("signing") }
            return raw
        }

        /// Says what it is, never what it holds.
        public var description: String { "P-256 private key" }
    }
}

/// The DER bytes of the first private key in a PEM text.
func privateKeyBlock(in pem: String) throws(CryptoError) -> [UInt8] {
    let wanted = ["PRIVATE KEY", "EC PRIVATE KEY"]
    guard let block = try PEM.decode(pem).first(where: { wanted.contains($0.label) }) else {
        throw .invalidPEM(reason: "no private key block")
    }
    return block.der
}
