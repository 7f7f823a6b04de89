import COpenSSL

/// Keyed message authentication (RFC 2104). Any thread.
public enum HMAC {
    /// HMAC-SHA-256 of `message`; 32 bytes. Compare with ``constantTimeEqual(_:_:)`` only.
    public static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        sha256(key: key, message[...])
    }

    /// HMAC-SHA-256 of a slice, without copying it.
    public static func sha256(key: [UInt8], _ message: ArraySlice<UInt8>) -> [UInt8] {
        // HMAC() treats a nil key as "reuse the last one": an empty key still needs an address.
        let keyBytes = key.isEmpty ? [0] : key
        return [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, count in
            var length: UInt32 = 0
            let done = message.withUnsafeBytes { bytes in
                COpenSSL.HMAC(
                    SHA256.algorithm, keyBytes, Int32(clamping: key.count),
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, buffer.baseAddress, &length)
            }
            // As with SHA-256: fails only where nothing can go on.
            precondition(done != nil && Int(length) == SHA256.byteCount, "OpenSSL has no working HMAC")
            count = SHA256.byteCount
        }
    }
}

/// Whether two byte strings are equal, in a time that depends on their lengths only.
///
/// For MACs, key hashes and tokens; the length itself is no secret.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return CRYPTO_memcmp(left, right, left.count) == 0
}
