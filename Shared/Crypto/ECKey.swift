import COpenSSL

/// The NIST curves that Apple's certificates and tokens use.
enum Curve: String, Sendable {
    /// P-256 by OpenSSL's name.
    case p256 = "prime256v1"
    /// P-384 by OpenSSL's name.
    case p384 = "secp384r1"
}

/// The owner of one OpenSSL key (public, or with its private part).
///
/// Unsafe for the compiler only: the key is never changed after creation, and OpenSSL counts references
/// and fills its caches under its own locks, so that any thread may read it.
final class ECKey: Sendable {
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes over a reference; it is freed with this object.
    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// The curve, or nil if the key is of another kind.
    static func curve(of pointer: OpaquePointer) -> Curve? {
        // Long enough for every curve name OpenSSL has.
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else {
            OpenSSLErrorQueue.clear()
            return nil
        }
        return Curve(rawValue: String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// A public key of any kind from its SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).
    static func anyPublicKey(der: [UInt8]) throws(CryptoError) -> ECKey {
        let pointer: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let key = d2i_PUBKEY(nil, &position, buffer.count) else { return nil }
            guard position == buffer.baseAddress?.advanced(by: buffer.count) else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
        guard let pointer else { throw .invalidKey(reason: OpenSSLErrorQueue.drain()) }
        OpenSSLErrorQueue.clear()
        return ECKey(adopting: pointer)
    }

    /// A public key from its SubjectPublicKeyInfo (RFC 5480).
    static func publicKey(der: [UInt8], curve: Curve) throws(CryptoError) -> ECKey {
        try check(anyPublicKey(der: der), wanted: curve)
    }

    /// A private key from PKCS#8 or SEC 1 bytes (RFC 5208, RFC 5915).
    static func privateKey(der: [UInt8], curve: Curve) throws(CryptoError) -> ECKey {
        let pointer: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &position, buffer.count)
        }
        guard let pointer else { throw .invalidKey(reason: OpenSSLErrorQueue.drain()) }
        OpenSSLErrorQueue.clear()
        return try check(ECKey(adopting: pointer), wanted: curve)
    }

    private static func check(_ key: ECKey, wanted: Curve) throws(CryptoError) -> ECKey {
        guard curve(of: key.pointer) == wanted else {
            throw .invalidKey(reason: "the key is not on the curve \(wanted.rawValue)")
        }
        return key
    }

    /// A new key pair.
    static func generate(_ curve: Curve) throws(CryptoError) -> ECKey {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw OpenSSLErrorQueue.failure("key generation")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var pointer: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, curve.rawValue) == 1,
            EVP_PKEY_generate(context, &pointer) == 1, let pointer
        else { throw OpenSSLErrorQueue.failure("key generation") }
        return ECKey(adopting: pointer)
    }

    /// SubjectPublicKeyInfo bytes.
    func publicDER() throws(CryptoError) -> [UInt8] {
        try encodedDER("public key encoding") { i2d_PUBKEY(pointer, $0) }
    }

    /// PKCS#8 bytes.
    func privateDER() throws(CryptoError) -> [UInt8] {
        guard let info = EVP_PKEY2PKCS8(pointer) else { throw OpenSSLErrorQueue.failure("private key encoding") }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return try encodedDER("private key encoding") { i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }
}

/// Runs an `i2d` function that allocates its output, and copies that output into an array.
func encodedDER(
    _ operation: String, _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
) throws(CryptoError) -> [UInt8] {
    var output: UnsafeMutablePointer<UInt8>?
    let length = Int(encode(&output))
    guard length > 0, let output else { throw OpenSSLErrorQueue.failure(operation) }
    defer { CRYPTO_clear_free(output, length, #fileID, #line) }
    return Array(UnsafeBufferPointer(start: output, count: length))
}
