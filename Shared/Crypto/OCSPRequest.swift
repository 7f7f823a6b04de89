import COpenSSL

/// A question whether one certificate is revoked (RFC 6960 §4.1). Immutable; any thread.
public final class OCSPRequest: Sendable {
    /// Bytes of a nonce: what RFC 9654 asks for at least.
    private static let nonceBytes: Int32 = 32

    /// The bytes to send, `application/ocsp-request`.
    public let der: [UInt8]

    /// Unsafe for the compiler only: filled in `init`, then only read.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Asks about `certificate`, which `issuer` has signed.
    ///
    /// It is named by SHA-1 hashes, as RFC 5019 §2.1.1 wants and every responder understands: they only name the issuer,
    /// what protects is the signature on the answer.
    ///
    /// - Parameter hasNonce: binds the answer to this question, where the responder goes along; those that serve answers
    ///   made beforehand do not.
    public init(about certificate: Certificate, issuedBy issuer: Certificate, hasNonce: Bool = false)
        throws(CryptoError)
    {
        guard let request = OCSP_REQUEST_new() else { throw OpenSSLErrorQueue.failure("revocation request") }
        guard let id = OCSP_cert_to_id(EVP_sha1(), certificate.handle.pointer, issuer.handle.pointer) else {
            OCSP_REQUEST_free(request)
            throw OpenSSLErrorQueue.failure("revocation request")
        }
        guard OCSP_request_add0_id(request, id) != nil else {
            OCSP_CERTID_free(id)
            OCSP_REQUEST_free(request)
            throw OpenSSLErrorQueue.failure("revocation request")
        }
        do throws(CryptoError) {
            guard !hasNonce || OCSP_request_add1_nonce(request, nil, Self.nonceBytes) == 1 else {
                throw OpenSSLErrorQueue.failure("nonce")
            }
            der = try encodedDER("revocation request") { i2d_OCSP_REQUEST(request, $0) }
        } catch {
            OCSP_REQUEST_free(request)
            throw error
        }
        pointer = request
    }

    /// Reads a question; for those who answer.
    public init(der: [UInt8]) throws(OCSPError) {
        let request: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let request = d2i_OCSP_REQUEST(nil, &position, buffer.count) else { return nil }
            guard position == buffer.baseAddress?.advanced(by: buffer.count) else {
                OCSP_REQUEST_free(request)
                return nil
            }
            return request
        }
        guard let request else { throw .malformed(reason: OpenSSLErrorQueue.drain()) }
        self.der = der
        pointer = request
    }

    deinit { OCSP_REQUEST_free(pointer) }

    /// Whether it asks about this certificate, and about no other one.
    public func isAbout(_ certificate: Certificate, issuedBy issuer: Certificate) -> Bool {
        guard OCSP_request_onereq_count(pointer) == 1, let one = OCSP_request_onereq_get0(pointer, 0),
            let asked = OCSP_onereq_get0_id(one)
        else { return false }
        return OCSPCertificateID.matches(asked, certificate, issuer)
    }
}

/// How a certificate is named in questions and answers.
enum OCSPCertificateID {
    /// Whether `id` names `certificate` of `issuer`, by any of the hashes in use.
    static func matches(_ id: OpaquePointer, _ certificate: Certificate, _ issuer: Certificate) -> Bool {
        [EVP_sha1(), EVP_sha256()].contains { digest in
            guard let own = OCSP_cert_to_id(digest, certificate.handle.pointer, issuer.handle.pointer) else {
                OpenSSLErrorQueue.clear()
                return false
            }
            defer { OCSP_CERTID_free(own) }
            return OCSP_id_cmp(own, id) == 0
        }
    }
}
