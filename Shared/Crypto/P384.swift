/// Keys on NIST P-384, the curve of Apple's certificate authorities.
///
/// They sign certificates (``CertificateBuilder``); messages are signed on ``P256`` only.
public enum P384 {
    /// A public key. Immutable; any thread.
    public final class PublicKey: Sendable {
        let key: ECKey

        init(key: ECKey) { self.key = key }

        /// Reads a SubjectPublicKeyInfo (RFC 5480); a key on another curve is refused.
        public convenience init(der: [UInt8]) throws(CryptoError) {
            self.init(key: try ECKey.publicKey(der: der, curve: .p384))
        }

        /// SubjectPublicKeyInfo bytes.
        public func derRepresentation() throws(CryptoError) -> [UInt8] { try key.publicDER() }
    }

    /// A private key. Immutable; any thread.
    public final class PrivateKey: Sendable, CustomStringConvertible {
        let key: ECKey

        init(key: ECKey) { self.key = key }

        /// Reads the first private key block of a PEM text.
        public convenience init(pem: String) throws(CryptoError) {
            self.init(key: try ECKey.privateKey(der: privateKeyBlock(in: pem), curve: .p384))
        }

        /// A new key.
        public static func generate() throws(CryptoError) -> PrivateKey {
            PrivateKey(key: try ECKey.generate(.p384))
        }

        /// The public half.
        public func publicKey() throws(CryptoError) -> PublicKey { try PublicKey(der: key.publicDER()) }

        /// PKCS#8 PEM text. Secret: for files with mode 0600 only.
        public func pemRepresentation() throws(CryptoError) -> String {
            PEM.encode(label: "PRIVATE KEY", der: try key.privateDER())
        }

        /// Says what it is, never what it holds.
        public var description: String { "P-384 private key" }
    }
}
