import COpenSSL

/// Makes answers about revocation: for the local stand-in of Apple's responders and for defective ones in tests.
///
/// Nothing is implied: an answer says exactly what was asked for.
public struct OCSPResponseBuilder: Sendable {
    /// How the signer is named.
    public enum ResponderName: Sendable {
        /// By the subject of its certificate.
        case subject
        /// By the SHA-1 hash of its key.
        case key
    }

    /// The hash by which the certificate is named.
    public enum Digest: Sendable {
        /// What most responders use.
        case sha1
        /// What some use.
        case sha256
    }

    /// What it says.
    public var status: OCSPAnswer.Status
    /// From when (seconds since 1970).
    public var thisUpdate: Int64
    /// Until when.
    public var nextUpdate: Int64?
    /// Certificates that travel with it.
    public var certificates: [Certificate]
    /// How the signer is named.
    public var responderName: ResponderName = .key
    /// How the certificate is named.
    public var digest: Digest = .sha1
    /// Whose nonce to give back.
    public var request: OCSPRequest?
    /// Another nonce, whatever was asked.
    public var nonce: [UInt8]?
    /// Signs over SHA-1, as nobody should.
    public var isWeak = false
    /// How often the statement stands in it.
    public var copies = 1

    /// Describes an answer that is not signed yet.
    public init(
        status: OCSPAnswer.Status, thisUpdate: Int64, nextUpdate: Int64?, certificates: [Certificate] = []
    ) {
        self.status = status
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
        self.certificates = certificates
    }

    /// The answer about `certificate` of `issuer`, signed by `key` in the name of `responder`.
    public func signed(
        by key: CertificateBuilder.IssuerKey, as responder: Certificate, about certificate: Certificate,
        of issuer: Certificate
    ) throws(CryptoError) -> [UInt8] {
        guard let basic = OCSP_BASICRESP_new() else { throw OpenSSLErrorQueue.failure("revocation answer") }
        defer { OCSP_BASICRESP_free(basic) }
        for _ in 0..<copies { try add(certificate, issuer, to: basic) }
        if let request { OCSP_copy_nonce(basic, request.pointer) }
        if var nonce { OCSP_basic_add1_nonce(basic, &nonce, Int32(clamping: nonce.count)) }
        for certificate in certificates { OCSP_basic_add1_cert(basic, certificate.handle.pointer) }
        let digest = isWeak ? EVP_sha1() : EVP_sha256()
        let flags = OCSP_NOCERTS | (responderName == .key ? OCSP_RESPID_KEY : 0)
        let isSigned =
            switch key {
            case .p256(let key):
                OCSP_basic_sign(basic, responder.handle.pointer, key.key.pointer, digest, nil, UInt(flags))
            case .p384(let key):
                OCSP_basic_sign(basic, responder.handle.pointer, key.key.pointer, digest, nil, UInt(flags))
            case .rsa(let key, _):
                OCSP_basic_sign(basic, responder.handle.pointer, key.key.pointer, digest, nil, UInt(flags))
            }
        guard isSigned == 1 else { throw OpenSSLErrorQueue.failure("revocation answer") }
        return try Self.encode(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
    }

    /// An answer that is none: RFC 6960's numbers, such as 3 for "try later".
    public static func refusal(status: Int) throws(CryptoError) -> [UInt8] {
        try encode(Int32(clamping: status), nil)
    }

    private static func encode(_ status: Int32, _ basic: OpaquePointer?) throws(CryptoError) -> [UInt8] {
        guard let response = OCSP_response_create(status, basic) else {
            throw OpenSSLErrorQueue.failure("revocation answer")
        }
        defer { OCSP_RESPONSE_free(response) }
        return try encodedDER("revocation answer") { i2d_OCSP_RESPONSE(response, $0) }
    }

    private func add(
        _ certificate: Certificate, _ issuer: Certificate, to basic: OpaquePointer
    ) throws(CryptoError) {
        let hash = digest == .sha1 ? EVP_sha1() : EVP_sha256()
        guard let id = OCSP_cert_to_id(hash, certificate.handle.pointer, issuer.handle.pointer) else {
            throw OpenSSLErrorQueue.failure("certificate id")
        }
        defer { OCSP_CERTID_free(id) }
        let begin = ASN1_GENERALIZEDTIME_set(nil, Int(thisUpdate))
        defer { ASN1_GENERALIZEDTIME_free(begin) }
        let end = nextUpdate.flatMap { ASN1_GENERALIZEDTIME_set(nil, Int($0)) }
        defer { ASN1_GENERALIZEDTIME_free(end) }
        var code = V_OCSP_CERTSTATUS_GOOD
        var reasonCode: Int32 = -1
        var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        defer { ASN1_GENERALIZEDTIME_free(revoked) }
        switch status {
        case .good: break
        case .unknown: code = V_OCSP_CERTSTATUS_UNKNOWN
        case .revoked(let at, let reason):
            code = V_OCSP_CERTSTATUS_REVOKED
            revoked = ASN1_GENERALIZEDTIME_set(nil, Int(at))
            reasonCode = reason.map { Int32(clamping: $0.rawValue) } ?? -1
        }
        guard OCSP_basic_add1_status(basic, id, code, reasonCode, revoked, begin, end) != nil else {
            throw OpenSSLErrorQueue.failure("revocation status")
        }
    }
}
