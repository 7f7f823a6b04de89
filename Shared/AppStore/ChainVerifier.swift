public import Crypto
import JOSE

/// Reads the certificates of a JWS header and checks their chain the way Apple's data demands.
///
/// Immutable; any thread.
public struct ChainVerifier: Sendable {
    /// Marks the certificate that signs App Store data ("Mac App Store receipt signing").
    public static let leafMarker = "1.2.840.113635.100.6.11.1"
    /// Marks the intermediate authority ("Worldwide Developer Relations").
    public static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    /// Leaf, intermediate, root.
    public static let chainLength = 3
    /// Bytes of one certificate; Apple's have about 1 KB.
    public static let maximumCertificateBytes = 4 << 10
    /// Signatures on certificates weaker than this are refused: SHA-1 has 63 bits, SHA-256 has 128.
    public static let minimumSecurityBits = 112

    private let store: TrustStore

    /// Trusts chains under `roots` only.
    public init(roots: [Certificate]) throws(CryptoError) {
        store = try TrustStore(roots: roots)
    }

    /// The two certificates of `x5c` that matter; the third is checked for form and never used for trust.
    ///
    /// - Parameter known: an intermediate of earlier data. The same bytes are not read again: that costs a quarter of
    ///   checking a signature of it, and Apple's changes once in years.
    public func certificates(
        x5c: [String], known: Certificate? = nil
    ) throws(VerificationFailure) -> (leaf: Certificate, intermediate: Certificate) {
        guard x5c.count == Self.chainLength else {
            throw VerificationFailure(
                .chainLength, .certificates,
                "\(x5c.count) certificate(s) instead of 3"
                    + (x5c.count == 1 ? "; Xcode's StoreKit testing signs like this, and is never accepted" : ""))
        }
        var decoded: [[UInt8]] = []
        for (position, text) in x5c.enumerated() {
            // Four characters stand for three bytes.
            guard text.utf8.count <= Self.maximumCertificateBytes / 3 * 4 + 4 else {
                throw VerificationFailure(.tooLarge, .certificates, "certificate \(position) is over 4 KiB")
            }
            guard let der = Base64.decode(text), !der.isEmpty else {
                throw VerificationFailure(
                    .certificate, .certificates, "certificate \(position) is not canonical base64")
            }
            decoded.append(der)
        }
        let leaf = try Self.certificate(decoded[0], "leaf")
        if let known, known.der == decoded[1] { return (leaf, known) }
        return (leaf, try Self.certificate(decoded[1], "intermediate"))
    }

    private static func certificate(_ der: [UInt8], _ role: String) throws(VerificationFailure) -> Certificate {
        let certificate: Certificate
        do {
            certificate = try Certificate(der: der)
        } catch {
            throw VerificationFailure(.certificate, .certificates, "the \(role) is \(error)")
        }
        guard certificate.signatureSecurityBits >= minimumSecurityBits else {
            throw VerificationFailure(.certificate, .certificates, "the \(role) is signed with a weak algorithm")
        }
        return certificate
    }

    /// The key of a leaf that is not trusted yet.
    public func key(of leaf: Certificate) throws(VerificationFailure) -> P256.PublicKey {
        do {
            return try leaf.p256PublicKey()
        } catch {
            throw VerificationFailure(.key, .certificates, "\(error)")
        }
    }

    /// Checks the chain at `time` (seconds since 1970): path to a pinned root, marks, validity.
    public func verify(
        leaf: Certificate, intermediate: Certificate, at time: Int64
    ) throws(VerificationFailure) -> CertificateChain {
        try verify(leaf: leaf, intermediates: [intermediate], at: time)
    }

    /// The same where the data does not say which of its certificates is the intermediate.
    public func verify(
        leaf: Certificate, intermediates: [Certificate], at time: Int64
    ) throws(VerificationFailure) -> CertificateChain {
        let chain: CertificateChain
        do {
            chain = try store.verify(leaf: leaf, intermediates: intermediates, at: time)
        } catch {
            throw Self.failure(error)
        }
        guard chain.certificates.count == Self.chainLength else {
            throw VerificationFailure(
                .chainUntrusted, .chain, "the verified path has \(chain.certificates.count) certificates instead of 3")
        }
        guard chain.certificates[0].extensions[Self.leafMarker] != nil else {
            throw VerificationFailure(.chainOID, .markers, "the leaf lacks the extension \(Self.leafMarker)")
        }
        guard chain.certificates[1].extensions[Self.intermediateMarker] != nil else {
            throw VerificationFailure(
                .chainOID, .markers, "the intermediate lacks the extension \(Self.intermediateMarker)")
        }
        return chain
    }

    private static func failure(_ failure: ChainFailure) -> VerificationFailure {
        switch failure {
        case .untrusted(let reason), .constraint(let reason):
            VerificationFailure(.chainUntrusted, .chain, reason)
        case .time(let subject, let validity, let time):
            VerificationFailure(
                .chainTime, .validity,
                "signed at \(UTCTime.text(time)), but \(quoted(subject)) is valid from "
                    + "\(UTCTime.text(validity.notBefore)) to \(UTCTime.text(validity.notAfter))")
        case .operationFailed(let reason):
            VerificationFailure(.unavailable, .chain, reason)
        }
    }
}
