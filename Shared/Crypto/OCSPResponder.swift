import COpenSSL

/// Who may answer for an authority: itself, or somebody it has certified for this alone (RFC 6960 §4.2.2.2).
enum OCSPResponder {
    /// Checks that the answer is signed by somebody who may, at `now` (seconds since 1970).
    static func check(
        _ response: OCSPResponse.BasicResponse, issuer: Certificate, at now: Int64, skew: Int64
    ) throws(OCSPError) {
        try checkAlgorithm(response)
        // Whoever is named; several certificates may have one name, so all of them get their chance.
        var failure = OCSPError.responderUnknown
        if isNamed(issuer, in: response) {
            if try isSigned(response, by: issuer) { return }
            failure = .signature
        }
        for delegate in try certificates(in: response) where isNamed(delegate, in: response) {
            do throws(OCSPError) {
                try checkDelegate(delegate, of: issuer, at: now, skew: skew)
                if try isSigned(response, by: delegate) { return }
                failure = .signature
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// SHA-1 can be made to collide: who can have one answer signed could forge another.
    private static func checkAlgorithm(_ response: OCSPResponse.BasicResponse) throws(OCSPError) {
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, OCSP_resp_get0_tbs_sigalg(response.pointer))
        var digest: Int32 = 0
        var key: Int32 = 0
        guard OBJ_find_sigid_algs(OBJ_obj2nid(object), &digest, &key) == 1,
            [NID_sha256, NID_sha384, NID_sha512].contains(digest)
        else { throw .weakSignature }
    }

    private static func certificates(in response: OCSPResponse.BasicResponse) throws(OCSPError) -> [Certificate] {
        let list = OCSP_resp_get0_certs(response.pointer)
        // Without any there is no list, and its length is -1.
        let count = max(0, min(OPENSSL_sk_num(list), OCSPResponse.maximumCertificates))
        var certificates: [Certificate] = []
        for index in 0..<count {
            guard let pointer = OPENSSL_sk_value(list, index).map({ OpaquePointer($0) }) else { continue }
            do {
                let der = try encodedDER("responder certificate") { i2d_X509(pointer, $0) }
                certificates.append(try Certificate(der: der))
            } catch {
                throw .malformed(reason: "a certificate in it cannot be read")
            }
        }
        return certificates
    }

    /// Whether the answer names this certificate as its signer's, by its subject or by the SHA-1 hash of its key.
    private static func isNamed(_ certificate: Certificate, in response: OCSPResponse.BasicResponse) -> Bool {
        var hash: UnsafePointer<ASN1_OCTET_STRING>?
        var name: OpaquePointer?
        guard OCSP_resp_get0_id(response.pointer, &hash, &name) == 1 else { return false }
        if let name { return X509_NAME_cmp(name, X509_get_subject_name(certificate.handle.pointer)) == 0 }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard let hash, X509_pubkey_digest(certificate.handle.pointer, EVP_sha1(), &digest, &length) == 1 else {
            return false
        }
        let named = UnsafeBufferPointer(start: ASN1_STRING_get0_data(hash), count: Int(ASN1_STRING_length(hash)))
        return named.elementsEqual(digest.prefix(Int(length)))
    }

    /// Whether the signature is that of `certificate`'s key. OpenSSL looks for the signer in this list alone and checks
    /// nothing else: who may sign is decided here.
    private static func isSigned(
        _ response: OCSPResponse.BasicResponse, by certificate: Certificate
    ) throws(OCSPError) -> Bool {
        guard let list = OPENSSL_sk_new_null() else { throw .operationFailed(reason: OpenSSLErrorQueue.drain()) }
        defer { OPENSSL_sk_free(list) }  // Only the list: the certificate belongs to its object.
        OPENSSL_sk_push(list, UnsafeRawPointer(certificate.handle.pointer))
        return OCSP_basic_verify(response.pointer, list, nil, UInt(OCSP_NOVERIFY | OCSP_NOINTERN)) == 1
    }

    private static func checkDelegate(
        _ delegate: Certificate, of issuer: Certificate, at now: Int64, skew: Int64
    ) throws(OCSPError) {
        let pointer = delegate.handle.pointer
        guard X509_check_issued(issuer.handle.pointer, pointer) == X509_V_OK,
            X509_verify(pointer, X509_get0_pubkey(issuer.handle.pointer)) == 1
        else { throw .responderNotAuthorized(reason: "it is not certified by the authority") }
        guard delegate.signatureSecurityBits >= 112 else {
            throw .responderNotAuthorized(reason: "its certificate is signed with a weak algorithm")
        }
        let flags = X509_get_extension_flags(pointer)
        guard flags & UInt32(EXFLAG_XKUSAGE) != 0,
            X509_get_extended_key_usage(pointer) & UInt32(XKU_OCSP_SIGN) != 0
        else { throw .responderNotAuthorized(reason: "its certificate is not for answering about revocation") }
        guard flags & UInt32(EXFLAG_CRITICAL) == 0 else {
            throw .responderNotAuthorized(reason: "its certificate has a critical extension that is not understood")
        }
        if let usage = delegate.keyUsage, !usage.contains(.digitalSignature) {
            throw .responderNotAuthorized(reason: "its key may not sign data")
        }
        guard delegate.validity.contains(now, skew: skew) else {
            throw .responderNotAuthorized(reason: "its certificate is not valid now")
        }
    }
}
