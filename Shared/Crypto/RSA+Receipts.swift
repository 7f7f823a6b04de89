import COpenSSL

/// What legacy receipts need besides: SHA-1, and certificates that speak for RSA keys.
extension RSA {
    /// Longest key of a certificate: a stranger's must not cost milliseconds. Apple's have 2,048 bits.
    static let maximumCertificateBits = 4_096
}

extension RSA.PublicKey {
    /// Whether `signature` is this key's over `message` with `digest`.
    ///
    /// - Throws: if this machine's OpenSSL does not check such signatures at all: some systems forbid SHA-1.
    public func isValidSignature(
        _ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>, digest: MessageDigest
    ) throws(CryptoError) -> Bool {
        guard let context = EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.failure("verification context") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, digest.algorithm, nil, key.pointer) == 1 else {
            throw OpenSSLErrorQueue.failure("verifying an RSA signature with \(digest)")
        }
        let result = signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBufferPointer {
                EVP_DigestVerify(context, signature.baseAddress, signature.count, $0.baseAddress, $0.count)
            }
        }
        // A wrong signature is an answer, not a failure.
        OpenSSLErrorQueue.clear()
        return result == 1
    }
}

extension RSA.PrivateKey {
    /// Reads the first private key block of a PEM text; a key of another kind is refused.
    public convenience init(pem: String) throws(CryptoError) {
        let der = try privateKeyBlock(in: pem)
        let pointer: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &position, buffer.count)
        }
        guard let pointer else { throw .invalidKey(reason: OpenSSLErrorQueue.drain()) }
        let key = ECKey(adopting: pointer)
        guard EVP_PKEY_is_a(pointer, "RSA") == 1 else { throw .invalidKey(reason: "the key is no RSA key") }
        self.init(key)
    }

    /// PKCS#8 PEM text. Secret: for files with mode 0600 only.
    public func pemRepresentation() throws(CryptoError) -> String {
        PEM.encode(label: "PRIVATE KEY", der: try key.privateDER())
    }

    /// The signature over `message` with `digest`.
    public func signature(for message: [UInt8], digest: MessageDigest) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.failure("signing context") }
        defer { EVP_MD_CTX_free(context) }
        var length = RSA.maximumBits / 8
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSignInit(context, nil, digest.algorithm, nil, key.pointer) == 1,
            EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw OpenSSLErrorQueue.failure("signing with RSA") }
        return Array(signature.prefix(length))
    }
}

extension Certificate {
    /// The key, if it is an RSA key of an acceptable length; fails for every other kind of key.
    public func rsaPublicKey() throws(CryptoError) -> RSA.PublicKey {
        guard let pointer = X509_get_pubkey(handle.pointer) else {
            throw .invalidKey(reason: OpenSSLErrorQueue.drain())
        }
        let key = ECKey(adopting: pointer)
        let bits = Int(EVP_PKEY_get_bits(pointer))
        guard bits <= RSA.maximumCertificateBits else {
            throw .invalidKey(reason: "the certificate's key has \(bits) bits")
        }
        return try RSA.PublicKey(der: try key.publicDER())
    }
}
