import AppStore
import AppStoreSimulation
import Crypto
import JOSE

/// Certificates and chains in all forms they come in: DER, base64 in `x5c`, PEM.
///
/// A damaged chain may only be accepted if it still says the same: the same key under the same names.
struct CertificateTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "\u{30}\u{01}", "\u{02}\u{01}\u{00}", "\u{05}\u{00}", "\u{03}\u{02}\u{01}", "\u{06}\u{03}",
        "\u{0}\u{0}\u{0}\u{0}",
        "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "\n",
    ]
    private let chains: ChainVerifier
    private let leaf: Certificate
    private let intermediate: Certificate
    private let key: [UInt8]
    /// A time at which the simulated chain is valid, in seconds since 1970.
    private static let time: Int64 = 1_796_083_200

    init(_ files: FuzzFiles) throws {
        let authority = try SimulatedAuthority.loadOrGenerate(in: files.state)
        chains = try ChainVerifier(roots: [authority.root])
        leaf = authority.leaf
        intermediate = authority.intermediate
        key = try authority.leaf.p256PublicKey().derRepresentation()
        let apples = FileBytes.folder("\(files.fixtures)/apple/unit-test-constants").filter {
            $0.name.hasSuffix(".der")
        }
        seeds =
            [authority.leaf.der, authority.intermediate.der, authority.root.der]
            + [Array(authority.leaf.pemRepresentation.utf8)] + apples.map(\.bytes) + files.corpus("certificate")
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        _ = try? Certificate.certificates(pem: String(decoding: input, as: UTF8.self))
        guard let certificate = try? Certificate(der: input) else { return false }
        try Violation.unless(certificate.der == input, "a certificate is kept as other bytes than it was given as")
        _ = certificate.pemRepresentation.utf8.count + certificate.subject.utf8.count + certificate.issuer.utf8.count
        if (try? chains.verify(leaf: certificate, intermediate: intermediate, at: Self.time)) != nil {
            let isSame = (try? certificate.p256PublicKey().derRepresentation()) == key
            try Violation.unless(isSame && certificate.subject == leaf.subject, "a chain to another key was accepted")
        }
        if (try? chains.verify(leaf: leaf, intermediate: certificate, at: Self.time)) != nil {
            try Violation.unless(certificate.subject == intermediate.subject, "another intermediate was accepted")
        }
        let x5c = [input, intermediate.der, intermediate.der].map { Base64.encode($0) }
        if let found = try? chains.certificates(x5c: x5c) {
            try Violation.unless(found.leaf.der == input, "x5c is read as another certificate")
        }
        return true
    }
}
