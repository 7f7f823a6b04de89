import Crypto

/// Object identifiers as their content bytes stand in a container.
enum ObjectIdentifier {
    /// 1.2.840.113549.1.7.2.
    static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    /// 1.2.840.113549.1.7.1.
    static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    /// 1.2.840.113549.1.9.3, a signed attribute.
    static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    /// 1.2.840.113549.1.9.4, a signed attribute.
    static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
    /// 1.2.840.113549.1.1.1: RSA, the digest is told elsewhere.
    static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]

    /// 1.3.14.3.2.26 or 2.16.840.1.101.3.4.2.1.
    static func digest(_ bytes: ArraySlice<UInt8>) -> MessageDigest? {
        if bytes.elementsEqual([0x2B, 0x0E, 0x03, 0x02, 0x1A]) { return .sha1 }
        return bytes.elementsEqual([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]) ? .sha256 : nil
    }

    /// Whether an RSA signature over this digest is named: by RSA alone, or by 1.2.840.113549.1.1.5 or .11.
    static func isRSA(_ bytes: ArraySlice<UInt8>, with digest: MessageDigest) -> Bool {
        let both = rsa.dropLast() + [digest == .sha1 ? 0x05 : 0x0B]
        return bytes.elementsEqual(rsa) || bytes.elementsEqual(both)
    }
}
