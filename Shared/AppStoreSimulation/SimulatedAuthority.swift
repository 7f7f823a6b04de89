import AppStore
public import Crypto
import JOSE

/// A certificate authority of Apple's shape: root and intermediate on P-384, leaf on P-256, both marker extensions.
///
/// It stands in for Apple's where tests and the simulator sign; a verifier accepts it only if its root was given to
/// it. Immutable; any thread.
public struct SimulatedAuthority: Sendable {
    /// The certificates of the chain.
    public enum Storey: String, Sendable, CaseIterable {
        /// Self-signed.
        case root
        /// Signed by the root.
        case intermediate
        /// Signs data.
        case leaf
    }

    /// The trust anchor to configure.
    public let root: Certificate
    /// Second certificate of `x5c`.
    public let intermediate: Certificate
    /// First certificate of `x5c`.
    public let leaf: Certificate
    /// The leaf's key.
    public let leafKey: P256.PrivateKey
    /// Issued by the same intermediate, but not for signing purchases; nil where nobody made one.
    public var unmarked: UnmarkedLeaf?
    /// Signs receipts under the same root; nil where nobody made one.
    public var receipts: ReceiptAuthority?
    /// Those who answer whether its certificates are revoked; nil where the certificates name nobody.
    public var responders: Responders?

    /// A leaf without Apple's marker extension: what any other customer of the authority could have.
    public struct UnmarkedLeaf: Sendable {
        /// The certificate.
        public let certificate: Certificate
        /// Its key.
        public let key: P256.PrivateKey
    }

    /// Three certificates as `x5c` of a JWS header holds them (RFC 7515 §4.1.6).
    public var x5c: [String] { [leaf, intermediate, root].map { Base64.encode($0.der) } }

    /// Puts together what was made elsewhere, for example a chain with one certificate exchanged.
    public init(root: Certificate, intermediate: Certificate, leaf: Certificate, leafKey: P256.PrivateKey) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
        self.leafKey = leafKey
    }

    /// 2020-01-01 to 2040-01-01: all dates that tests and demonstrations use.
    public static let defaultValidity = Certificate.Validity(notBefore: 1_577_836_800, notAfter: 2_208_988_800)

    /// Makes new keys and certificates. `change` may spoil each certificate before it is signed.
    ///
    /// - Parameters:
    ///   - withReceipts: whether a signer of receipts is made too; its RSA key takes a tenth of a second.
    ///   - ocspAddress: where leaf and intermediate say that one can ask whether they are revoked.
    public static func generate(
        validity: Certificate.Validity = defaultValidity, withReceipts: Bool = false, ocspAddress: String? = nil,
        change: (Storey, inout CertificateBuilder) -> Void = { _, _ in }
    ) throws(CryptoError) -> SimulatedAuthority {
        let rootKey = try P384.PrivateKey.generate()
        let intermediateKey = try P384.PrivateKey.generate()
        let leafKey = try P256.PrivateKey.generate()
        let root = try CertificateBuilder.SubjectKey.p384(rootKey.publicKey())
        let intermediate = try CertificateBuilder.SubjectKey.p384(intermediateKey.publicKey())

        var builder = try template(.root, key: root, issuer: root, validity)
        change(.root, &builder)
        let rootCertificate = try builder.signed(by: .p384(rootKey))

        builder = try template(.intermediate, key: intermediate, issuer: root, validity)
        if let ocspAddress { builder.extensions.append(.ocspAddress(ocspAddress)) }
        change(.intermediate, &builder)
        let intermediateCertificate = try builder.signed(by: .p384(rootKey), issuer: rootCertificate)

        builder = try template(.leaf, key: .p256(leafKey.publicKey()), issuer: intermediate, validity)
        if let ocspAddress { builder.extensions.append(.ocspAddress(ocspAddress)) }
        change(.leaf, &builder)
        let leafCertificate = try builder.signed(by: .p384(intermediateKey), issuer: intermediateCertificate)
        var authority = SimulatedAuthority(
            root: rootCertificate, intermediate: intermediateCertificate, leaf: leafCertificate, leafKey: leafKey)

        let otherKey = try P256.PrivateKey.generate()
        builder = try template(.leaf, key: .p256(otherKey.publicKey()), issuer: intermediate, validity)
        builder.extensions.removeAll { $0.identifier == ChainVerifier.leafMarker }
        authority.unmarked = UnmarkedLeaf(
            certificate: try builder.signed(by: .p384(intermediateKey), issuer: intermediateCertificate),
            key: otherKey)
        if withReceipts {
            let key = try RSA.PrivateKey.generate()
            builder = try template(.leaf, key: .rsa(key.publicKey()), issuer: intermediate, validity)
            authority.receipts = ReceiptAuthority(
                root: rootCertificate, intermediate: intermediateCertificate,
                leaf: try builder.signed(by: .p384(intermediateKey), issuer: intermediateCertificate), key: key)
        }
        guard ocspAddress != nil else { return authority }
        authority.responders = Responders(
            leaf: try .certified(by: intermediateKey, of: intermediateCertificate, validity: validity),
            intermediate: try .certified(by: rootKey, of: rootCertificate, validity: validity))
        return authority
    }

    static func template(
        _ storey: Storey, key: CertificateBuilder.SubjectKey, issuer: CertificateBuilder.SubjectKey,
        _ validity: Certificate.Validity
    ) throws(CryptoError) -> CertificateBuilder {
        // The value of both markers is NULL in Apple's certificates.
        let null: [UInt8] = [0x05, 0x00]
        var extensions: [CertificateBuilder.Extension] =
            switch storey {
            case .root: [.basicConstraints(isAuthority: true), .keyUsage([.certificateSign, .listSign])]
            case .intermediate:
                [
                    .basicConstraints(isAuthority: true, pathLength: 0), .keyUsage([.certificateSign, .listSign]),
                    .init(identifier: ChainVerifier.intermediateMarker, value: null),
                ]
            case .leaf:
                [
                    .basicConstraints(isAuthority: false), .keyUsage([.digitalSignature]),
                    .init(identifier: ChainVerifier.leafMarker, value: null),
                ]
            }
        extensions.append(try .subjectKeyIdentifier(key))
        if storey != .root { extensions.append(try .authorityKeyIdentifier(issuer)) }
        extensions.append(comment(storey))
        // Positive, unique, and under the 20 bytes of RFC 5280 §4.1.2.2.
        let serialNumber = [0x47] + (try RandomBytes.generate(15))
        return CertificateBuilder(
            commonName: "App Store Simulator \(storey.rawValue)", organization: "App Store Simulator",
            serialNumber: serialNumber, validity: validity, subjectKey: key, extensions: extensions)
    }

    /// A warning inside the certificate, as long as what Apple's certificates say at that place: with it, signed
    /// data has Apple's 5 to 6 KB, and benchmarks measure the true size.
    private static func comment(_ storey: Storey) -> CertificateBuilder.Extension {
        let length =
            switch storey {
            case .root: 60
            case .intermediate: 240
            case .leaf: 500
            }
        let warning = "Made by the App Store simulator; proves nothing outside tests. "
        let text = Array(Array(String(repeating: warning, count: 8).utf8).prefix(length))
        // Netscape comment: an IA5String that no software interprets.
        let header: [UInt8] = [0x16, 0x82, UInt8(text.count >> 8), UInt8(text.count & 0xff)]
        return CertificateBuilder.Extension(identifier: "2.16.840.1.113730.1.13", value: header + text)
    }
}
