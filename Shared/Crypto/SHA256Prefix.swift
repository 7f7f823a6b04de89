import COpenSSL

/// The state of SHA-256 after the beginning of a message that many messages share.
///
/// A JWS header of Apple's is the same 4 KB for months: hashed once, each message costs only its own part.
/// Belongs to one thread at a time: the working context is reused.
public final class SHA256Prefix {
    /// Bytes already hashed.
    public let byteCount: Int
    private let state: OpaquePointer
    private let working: OpaquePointer

    /// Hashes the shared beginning; fails only if OpenSSL is out of memory.
    public init(_ prefix: [UInt8]) throws(CryptoError) {
        guard let state = EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.failure("hash state") }
        guard let working = EVP_MD_CTX_new() else {
            EVP_MD_CTX_free(state)
            throw OpenSSLErrorQueue.failure("hash state")
        }
        guard EVP_DigestInit_ex2(state, SHA256.algorithm, nil) == 1,
            EVP_DigestUpdate(state, prefix, prefix.count) == 1
        else {
            EVP_MD_CTX_free(state)
            EVP_MD_CTX_free(working)
            throw OpenSSLErrorQueue.failure("hash state")
        }
        self.state = state
        self.working = working
        byteCount = prefix.count
    }

    deinit {
        EVP_MD_CTX_free(state)
        EVP_MD_CTX_free(working)
    }

    /// The digest of the beginning followed by `rest`; nil only if OpenSSL is out of memory.
    public func hash(appending rest: ArraySlice<UInt8>) -> [UInt8]? {
        guard EVP_MD_CTX_copy_ex(working, state) == 1 else {
            OpenSSLErrorQueue.clear()
            return nil
        }
        let updated = rest.withUnsafeBytes { EVP_DigestUpdate(working, $0.baseAddress, $0.count) }
        var length: UInt32 = 0
        let digest = [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, count in
            let done = updated == 1 && EVP_DigestFinal_ex(working, buffer.baseAddress, &length) == 1
            count = done ? SHA256.byteCount : 0
        }
        guard digest.count == SHA256.byteCount else {
            OpenSSLErrorQueue.clear()
            return nil
        }
        return digest
    }
}
