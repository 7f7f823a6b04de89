import COpenSSL

/// SHA-256 (FIPS 180-4) over whole messages. Any thread.
public enum SHA256 {
    /// Length of a digest in bytes.
    public static let byteCount = 32

    /// The algorithm, fetched once: an implicit fetch per call costs more than hashing a short message.
    ///
    /// Unsafe for the compiler only: a fetched `EVP_MD` is immutable and made for sharing between threads.
    nonisolated(unsafe) static let algorithm: OpaquePointer? =
        EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_sha256()

    /// The digest of `bytes`.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// The digest of a slice, without copying it.
    public static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// The digest of a text's UTF-8 bytes.
    public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }

    /// The digest of raw memory.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            var length: UInt32 = 0
            let done = EVP_Digest(bytes.baseAddress, bytes.count, buffer.baseAddress, &length, algorithm, nil)
            // Fails only when memory is exhausted or OpenSSL has no SHA-256, where nothing can go on:
            // a process that invented a digest would be worse than one that stops.
            precondition(done == 1 && Int(length) == byteCount, "OpenSSL has no working SHA-256")
            count = byteCount
        }
    }
}
