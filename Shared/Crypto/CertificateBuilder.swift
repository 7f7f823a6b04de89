import COpenSSL

/// Makes certificates: for the local stand-in of Apple's authority and for defective chains in tests.
///
/// Nothing is implied: a certificate has exactly the extensions that were asked for.
public struct CertificateBuilder: Sendable {
    /// A key that a certificate can speak for.
    public enum SubjectKey: Sendable {
        /// A P-256 key.
        case p256(P256.PublicKey)
        /// A P-384 key.
        case p384(P384.PublicKey)
        /// An RSA key.
        case rsa(RSA.PublicKey)
    }

    /// A key that can sign certificates.
    public enum IssuerKey: Sendable {
        /// Signs with ecdsa-with-SHA256.
        case p256(P256.PrivateKey)
        /// Signs with ecdsa-with-SHA384.
        case p384(P384.PrivateKey)
        /// Signs with sha256WithRSAEncryption or sha1WithRSAEncryption.
        case rsa(RSA.PrivateKey, MessageDigest = .sha256)
    }

    /// One extension as it will stand in the certificate.
    public struct Extension: Sendable {
        /// Dotted object identifier.
        public var identifier: String
        /// Whether a reader that does not know it must refuse the certificate.
        public var isCritical: Bool
        /// DER bytes of the value.
        public var value: [UInt8]

        /// Any extension.
        public init(identifier: String, isCritical: Bool = false, value: [UInt8]) {
            self.identifier = identifier
            self.isCritical = isCritical
            self.value = value
        }
    }

    /// Common name and organisation of the subject.
    public var commonName: String
    /// Organisation of the subject.
    public var organization: String
    /// Serial number, at most 20 bytes, big endian.
    public var serialNumber: [UInt8]
    /// Period of validity.
    public var validity: Certificate.Validity
    /// The key the certificate speaks for.
    public var subjectKey: SubjectKey
    /// Extensions in order.
    public var extensions: [Extension]

    /// Describes a certificate that is not signed yet.
    public init(
        commonName: String, organization: String, serialNumber: [UInt8], validity: Certificate.Validity,
        subjectKey: SubjectKey, extensions: [Extension] = []
    ) {
        self.commonName = commonName
        self.organization = organization
        self.serialNumber = serialNumber
        self.validity = validity
        self.subjectKey = subjectKey
        self.extensions = extensions
    }

    /// Signs with `key` in the name of `issuer`; nil makes it self-signed by name.
    public func signed(by key: IssuerKey, issuer: Certificate? = nil) throws(CryptoError) -> Certificate {
        guard let certificate = X509_new() else { throw OpenSSLErrorQueue.failure("certificate") }
        defer { X509_free(certificate) }
        try fill(certificate)
        let subject = X509_get_subject_name(certificate)
        let issuerName = issuer.map { X509_get_subject_name($0.handle.pointer) } ?? subject
        guard X509_set_issuer_name(certificate, issuerName) == 1 else { throw OpenSSLErrorQueue.failure("issuer name") }
        for item in extensions { try add(item, to: certificate) }
        let length =
            switch key {
            case .p256(let key): X509_sign(certificate, key.key.pointer, EVP_sha256())
            case .p384(let key): X509_sign(certificate, key.key.pointer, EVP_sha384())
            case .rsa(let key, let digest): X509_sign(certificate, key.key.pointer, digest.algorithm)
            }
        guard length > 0 else { throw OpenSSLErrorQueue.failure("certificate signature") }
        return try Certificate(der: encodedDER("certificate encoding") { i2d_X509(certificate, $0) })
    }

    private func fill(_ certificate: OpaquePointer) throws(CryptoError) {
        // 2 means version 3 (RFC 5280 §4.1.2.1).
        guard X509_set_version(certificate, 2) == 1 else { throw OpenSSLErrorQueue.failure("version") }
        guard let number = BN_bin2bn(serialNumber, Int32(clamping: serialNumber.count), nil) else {
            throw OpenSSLErrorQueue.failure("serial number")
        }
        defer { BN_free(number) }
        let pointer: OpaquePointer? =
            switch subjectKey {
            case .p256(let key): key.key.pointer
            case .p384(let key): key.key.pointer
            case .rsa(let key): key.key.pointer
            }
        guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil,
            ASN1_TIME_set(X509_getm_notBefore(certificate), Int(validity.notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(certificate), Int(validity.notAfter)) != nil,
            X509_set_pubkey(certificate, pointer) == 1
        else { throw OpenSSLErrorQueue.failure("certificate content") }
        let subject = X509_get_subject_name(certificate)
        for (field, text) in [("CN", commonName), ("O", organization)] where !text.isEmpty {
            let bytes = Array(text.utf8)
            guard
                X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8, bytes, Int32(clamping: bytes.count), -1, 0)
                    == 1
            else { throw OpenSSLErrorQueue.failure("subject name") }
        }
    }

    private func add(_ item: Extension, to certificate: OpaquePointer) throws(CryptoError) {
        guard let object = OBJ_txt2obj(item.identifier, 1) else { throw OpenSSLErrorQueue.failure("object identifier") }
        defer { ASN1_OBJECT_free(object) }
        guard let value = ASN1_OCTET_STRING_new() else { throw OpenSSLErrorQueue.failure("extension") }
        defer { ASN1_OCTET_STRING_free(value) }
        guard ASN1_OCTET_STRING_set(value, item.value, Int32(clamping: item.value.count)) == 1,
            let made = X509_EXTENSION_create_by_OBJ(nil, object, item.isCritical ? 1 : 0, value)
        else { throw OpenSSLErrorQueue.failure("extension") }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(certificate, made, -1) == 1 else { throw OpenSSLErrorQueue.failure("extension") }
    }
}

extension CertificateBuilder.Extension {
    /// Basic constraints (RFC 5280 §4.2.1.9), critical.
    public static func basicConstraints(isAuthority: Bool, pathLength: UInt8? = nil) -> Self {
        var content: [UInt8] = isAuthority ? [0x01, 0x01, 0xff] : []
        // Path lengths up to 127 fit the single byte of a DER integer; more makes no sense here.
        if let pathLength { content += [0x02, 0x01, min(pathLength, 127)] }
        return Self(identifier: "2.5.29.19", isCritical: true, value: [0x30, UInt8(content.count)] + content)
    }

    /// Key usage (RFC 5280 §4.2.1.3), critical.
    public static func keyUsage(_ usage: Certificate.KeyUsage) -> Self {
        let bits = UInt8(truncatingIfNeeded: usage.rawValue)
        // DER wants the number of unused bits at the end of a named bit list.
        let unused = bits == 0 ? 0 : UInt8(bits.trailingZeroBitCount)
        return Self(
            identifier: "2.5.29.15", isCritical: true,
            value: bits == 0 ? [0x03, 0x01, 0x00] : [0x03, 0x02, unused, bits])
    }

    /// Subject key identifier (RFC 5280 §4.2.1.2): the first 20 bytes of SHA-256 of the key (RFC 7093).
    public static func subjectKeyIdentifier(_ key: CertificateBuilder.SubjectKey) throws(CryptoError) -> Self {
        Self(identifier: "2.5.29.14", value: [0x04, 20] + (try identifier(of: key)))
    }

    /// Authority key identifier (RFC 5280 §4.2.1.1) naming the issuer's key.
    public static func authorityKeyIdentifier(_ issuer: CertificateBuilder.SubjectKey) throws(CryptoError) -> Self {
        Self(identifier: "2.5.29.35", value: [0x30, 22, 0x80, 20] + (try identifier(of: issuer)))
    }

    private static func identifier(of key: CertificateBuilder.SubjectKey) throws(CryptoError) -> [UInt8] {
        let der =
            switch key {
            case .p256(let key): try key.derRepresentation()
            case .p384(let key): try key.derRepresentation()
            case .rsa(let key): try key.derRepresentation()
            }
        return Array(SHA256.hash(der).prefix(20))
    }
}
