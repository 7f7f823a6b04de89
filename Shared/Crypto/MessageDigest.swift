import COpenSSL

/// The digests of RSA signatures that Apple's receipts have. Any thread.
public enum MessageDigest: Sendable, CaseIterable {
    /// FIPS 180-4; only where old data has it: collisions can be made, other data for a given digest cannot.
    case sha1
    /// FIPS 180-4.
    case sha256

    /// The digest of a slice.
    public func hash(_ bytes: ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
        // The longest digest OpenSSL has.
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let done = bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, &length, algorithm, nil) }
        guard done == 1 else { throw OpenSSLErrorQueue.failure("digest") }
        return Array(digest.prefix(Int(length)))
    }

    var algorithm: OpaquePointer? {
        switch self {
        case .sha1: EVP_sha1()
        case .sha256: EVP_sha256()
        }
    }
}
