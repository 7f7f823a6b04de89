public import Crypto

/// Certificates that sign receipts: a marked leaf with an RSA key. Immutable; any thread.
///
/// The simulator's stands under the root that signs everything else; ``generate(digest:validity:change:)`` makes one
/// of Apple's shape, RSA from the root down.
public struct ReceiptAuthority: Sendable {
    /// The trust anchor to configure.
    public let root: Certificate
    /// Between them.
    public let intermediate: Certificate
    /// The signer.
    public let leaf: Certificate
    /// The signer's key.
    public let key: RSA.PrivateKey

    /// Puts together what was made elsewhere, for example a chain with one certificate exchanged.
    public init(root: Certificate, intermediate: Certificate, leaf: Certificate, key: RSA.PrivateKey) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
        self.key = key
    }

    /// Makes new keys and certificates, signed with `digest`; `change` may spoil each before it is signed.
    public static func generate(
        digest: MessageDigest = .sha256, validity: Certificate.Validity = SimulatedAuthority.defaultValidity,
        change: (SimulatedAuthority.Storey, inout CertificateBuilder) -> Void = { _, _ in }
    ) throws(CryptoError) -> ReceiptAuthority {
        let rootKey = try RSA.PrivateKey.generate()
        let intermediateKey = try RSA.PrivateKey.generate()
        let key = try RSA.PrivateKey.generate()
        let root = CertificateBuilder.SubjectKey.rsa(try rootKey.publicKey())
        let intermediate = CertificateBuilder.SubjectKey.rsa(try intermediateKey.publicKey())

        var builder = try SimulatedAuthority.template(.root, key: root, issuer: root, validity)
        change(.root, &builder)
        let rootCertificate = try builder.signed(by: .rsa(rootKey, digest))
        builder = try SimulatedAuthority.template(.intermediate, key: intermediate, issuer: root, validity)
        change(.intermediate, &builder)
        let intermediateCertificate = try builder.signed(by: .rsa(rootKey, digest), issuer: rootCertificate)
        builder = try SimulatedAuthority.template(.leaf, key: .rsa(key.publicKey()), issuer: intermediate, validity)
        change(.leaf, &builder)
        let leaf = try builder.signed(by: .rsa(intermediateKey, digest), issuer: intermediateCertificate)
        return ReceiptAuthority(root: rootCertificate, intermediate: intermediateCertificate, leaf: leaf, key: key)
    }
}
