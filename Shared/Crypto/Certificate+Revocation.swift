import COpenSSL

extension Certificate {
    /// Addresses that are looked at; one is usual.
    private static let maximumAddresses: Int32 = 8
    /// Bytes of an address at most.
    private static let longestAddress = 512

    /// Where the certificate says one can ask whether it is revoked (RFC 5280 §4.2.2.1, id-ad-ocsp), as it says it.
    ///
    /// Anybody can write anything there: to be used only after the chain of the certificate is trusted, and checked even
    /// then.
    public var ocspAddresses: [String] {
        defer { OpenSSLErrorQueue.clear() }
        guard let list = X509_get1_ocsp(handle.pointer) else { return [] }
        defer { X509_email_free(list) }
        return (0..<min(OPENSSL_sk_num(list), Self.maximumAddresses)).compactMap { index in
            guard let text = OPENSSL_sk_value(list, index) else { return nil }
            let address = String(cString: text.assumingMemoryBound(to: CChar.self))
            return address.utf8.count <= Self.longestAddress ? address : nil
        }
    }
}

extension CertificateBuilder.Extension {
    /// Authority information access (RFC 5280 §4.2.2.1) with one address to ask about revocation.
    public static func ocspAddress(_ address: String) -> Self {
        // id-ad-ocsp, then a uniformResourceIdentifier.
        let method: [UInt8] = [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
        let location = der(0x86, Array(address.utf8))
        return Self(identifier: "1.3.6.1.5.5.7.1.1", value: der(0x30, der(0x30, method + location)))
    }

    /// Extended key usage (RFC 5280 §4.2.1.12): answering about revocation, and nothing else.
    public static var ocspSigning: Self {
        Self(
            identifier: "2.5.29.37",
            value: der(0x30, [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09]))
    }

    /// One DER element of up to 65,535 bytes.
    private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<128: [tag, UInt8(content.count)] + content
        case ..<256: [tag, 0x81, UInt8(content.count)] + content
        default:
            [tag, 0x82, UInt8(truncatingIfNeeded: content.count >> 8), UInt8(truncatingIfNeeded: content.count)]
                + content
        }
    }
}
