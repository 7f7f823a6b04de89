public import Crypto

extension SimulatedAuthority {
    /// Somebody who answers about revocation.
    public struct Responder: Sendable {
        /// The certificate.
        public let certificate: Certificate
        /// Its key.
        public let key: P256.PrivateKey

        /// Pairs the two.
        public init(certificate: Certificate, key: P256.PrivateKey) {
            self.certificate = certificate
            self.key = key
        }

        /// One certified by `issuer` for this alone, or as `change` makes it.
        public static func certified(
            by key: P384.PrivateKey, of issuer: Certificate, validity: Certificate.Validity = defaultValidity,
            change: (inout CertificateBuilder) -> Void = { _ in }
        ) throws(CryptoError) -> Responder {
            let own = try P256.PrivateKey.generate()
            var builder = try template(own, validity)
            change(&builder)
            return Responder(certificate: try builder.signed(by: .p384(key), issuer: issuer), key: own)
        }

        /// One that nobody has certified.
        static func stranger() throws(CryptoError) -> Responder {
            let own = try P256.PrivateKey.generate()
            return Responder(certificate: try template(own, defaultValidity).signed(by: .p256(own)), key: own)
        }

        private static func template(
            _ key: P256.PrivateKey, _ validity: Certificate.Validity
        ) throws(CryptoError) -> CertificateBuilder {
            CertificateBuilder(
                commonName: "App Store Simulator responder", organization: "App Store Simulator",
                serialNumber: [0x48] + (try RandomBytes.generate(15)), validity: validity,
                subjectKey: .p256(try key.publicKey()),
                extensions: [
                    .basicConstraints(isAuthority: false), .keyUsage([.digitalSignature]), .ocspSigning,
                    try .subjectKeyIdentifier(.p256(key.publicKey())),
                ])
        }
    }

    /// Those who answer for an authority.
    public struct Responders: Sendable {
        /// About the leaf; certified by the intermediate.
        public let leaf: Responder
        /// About the intermediate; certified by the root.
        public let intermediate: Responder

        /// Pairs the two.
        public init(leaf: Responder, intermediate: Responder) {
            self.leaf = leaf
            self.intermediate = intermediate
        }
    }

    private static let files = ("responder-leaf", "responder-intermediate")

    func saveResponders(in directory: String) throws(AuthorityFileError) {
        guard let responders else { return }
        for (name, responder) in [(Self.files.0, responders.leaf), (Self.files.1, responders.intermediate)] {
            let key: String
            do {
                key = try responder.key.pemRepresentation()
            } catch {
                throw .content(path: name, error)
            }
            try TextFile.write(key, to: "\(directory)/\(name)-key.pem", mode: 0o600)
            try TextFile.write(
                responder.certificate.pemRepresentation, to: "\(directory)/\(name).pem", mode: 0o644)
        }
    }

    /// Nil in folders of authorities without.
    static func loadResponders(from directory: String) -> Responders? {
        func load(_ name: String) -> Responder? {
            guard let certificate = try? TextFile.read("\(directory)/\(name).pem"),
                let key = try? TextFile.read("\(directory)/\(name)-key.pem"),
                let first = try? Certificate.certificates(pem: certificate).first,
                let own = try? P256.PrivateKey(pem: key)
            else { return nil }
            return Responder(certificate: first, key: own)
        }
        guard let leaf = load(files.0), let intermediate = load(files.1) else { return nil }
        return Responders(leaf: leaf, intermediate: intermediate)
    }
}
