public import Crypto

/// Why an authority could not be loaded or saved.
public enum AuthorityFileError: Error, Sendable, Equatable {
    /// The file is missing, unreadable or cannot be written.
    case file(path: String, problem: String)
    /// The file holds something else than expected.
    case content(path: String, CryptoError)

    /// A stable dotted name.
    public var code: String {
        switch self {
        case .file: "simulation.authority_file"
        case .content: "simulation.authority_content"
        }
    }

    /// A person has to do something first.
    public var isRetryable: Bool { false }
}

extension SimulatedAuthority {
    /// Certificates, root first; everybody may read them.
    public static let certificatesFile = "authority.pem"
    /// Root alone, for configuring verifiers.
    public static let rootFile = "root.pem"
    /// The leaf's key; mode 0600.
    public static let keyFile = "leaf-key.pem"
    /// The leaf without markers.
    public static let unmarkedFile = "unmarked.pem"
    /// Its key; mode 0600.
    public static let unmarkedKeyFile = "unmarked-key.pem"
    /// The signer of receipts.
    public static let receiptsFile = "receipts.pem"
    /// Its key; mode 0600.
    public static let receiptsKeyFile = "receipts-key.pem"

    /// Writes the chain and the leaf's key into an existing folder. The authority keys are not kept: another chain
    /// is made, not extended.
    public func save(in directory: String) throws(AuthorityFileError) {
        let key: String
        let unmarkedKey: String?
        let receiptsKey: String?
        do {
            key = try leafKey.pemRepresentation()
            unmarkedKey = try unmarked?.key.pemRepresentation()
            receiptsKey = try receipts?.key.pemRepresentation()
        } catch {
            throw .content(path: Self.keyFile, error)
        }
        if let receipts, let receiptsKey {
            try TextFile.write(receiptsKey, to: "\(directory)/\(Self.receiptsKeyFile)", mode: 0o600)
            let certificate = receipts.leaf.pemRepresentation
            try TextFile.write(certificate, to: "\(directory)/\(Self.receiptsFile)", mode: 0o644)
        }
        if let unmarked, let unmarkedKey {
            let certificate = unmarked.certificate.pemRepresentation
            try TextFile.write(unmarkedKey, to: "\(directory)/\(Self.unmarkedKeyFile)", mode: 0o600)
            try TextFile.write(certificate, to: "\(directory)/\(Self.unmarkedFile)", mode: 0o644)
        }
        try saveResponders(in: directory)
        let chain = [root, intermediate, leaf].map(\.pemRepresentation).joined()
        // The key first: a certificate file without a key would be taken for complete.
        try TextFile.write(key, to: "\(directory)/\(Self.keyFile)", mode: 0o600)
        try TextFile.write(root.pemRepresentation, to: "\(directory)/\(Self.rootFile)", mode: 0o644)
        try TextFile.write(chain, to: "\(directory)/\(Self.certificatesFile)", mode: 0o644)
    }

    /// Reads what ``save(in:)`` wrote.
    public static func load(from directory: String) throws(AuthorityFileError) -> SimulatedAuthority {
        let chainPath = "\(directory)/\(certificatesFile)"
        let chainText = try TextFile.read(chainPath)
        let keyText = try TextFile.read("\(directory)/\(keyFile)")
        do throws(CryptoError) {
            let certificates = try Certificate.certificates(pem: chainText)
            guard certificates.count == 3 else {
                throw CryptoError.invalidCertificate(reason: "\(certificates.count) certificates instead of 3")
            }
            var authority = SimulatedAuthority(
                root: certificates[0], intermediate: certificates[1], leaf: certificates[2],
                leafKey: try P256.PrivateKey(pem: keyText))
            // Folders of before have none.
            if let certificate = try? TextFile.read("\(directory)/\(unmarkedFile)"),
                let key = try? TextFile.read("\(directory)/\(unmarkedKeyFile)"),
                let leaf = try Certificate.certificates(pem: certificate).first
            {
                authority.unmarked = UnmarkedLeaf(certificate: leaf, key: try P256.PrivateKey(pem: key))
            }
            if let certificate = try? TextFile.read("\(directory)/\(receiptsFile)"),
                let key = try? TextFile.read("\(directory)/\(receiptsKeyFile)"),
                let leaf = try Certificate.certificates(pem: certificate).first
            {
                authority.receipts = ReceiptAuthority(
                    root: authority.root, intermediate: authority.intermediate, leaf: leaf,
                    key: try RSA.PrivateKey(pem: key))
            }
            authority.responders = loadResponders(from: directory)
            return authority
        } catch {
            throw .content(path: chainPath, error)
        }
    }

    /// Reads the authority of a folder, or makes one and saves it: the same every time after the first.
    ///
    /// - Parameter ocspAddress: what the certificates shall say about where to ask; if those of the folder say something
    ///   else, new ones are made. Nil takes whatever is there.
    public static func loadOrGenerate(
        in directory: String, ocspAddress: String? = nil
    ) throws(AuthorityFileError) -> SimulatedAuthority {
        if TextFile.exists("\(directory)/\(certificatesFile)") {
            let authority = try load(from: directory)
            let isWanted = ocspAddress.map { authority.leaf.ocspAddresses == [$0] && authority.responders != nil }
            if isWanted ?? true { return authority }
        }
        let authority: SimulatedAuthority
        do {
            authority = try generate(withReceipts: true, ocspAddress: ocspAddress)
        } catch {
            throw .content(path: directory, error)
        }
        try authority.save(in: directory)
        return authority
    }
}
