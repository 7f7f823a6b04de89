import COpenSSL

/// Unpredictable bytes from OpenSSL's generator, which the operating system seeds. Any thread.
public enum RandomBytes {
    /// `count` random bytes; fails only if the operating system gives no entropy.
    public static func generate(_ count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        guard RAND_bytes(&bytes, Int32(clamping: bytes.count)) == 1 else {
            throw OpenSSLErrorQueue.failure("random bytes")
        }
        return bytes
    }
}
