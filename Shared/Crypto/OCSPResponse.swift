import COpenSSL

/// Reads and checks what a responder answers about one certificate (RFC 6960 §3.2, §4.2). Any thread.
///
/// Nothing of it is believed before its signature is that of the issuer itself, or of somebody whom that issuer has
/// certified for exactly this.
public enum OCSPResponse {
    /// Bytes of an answer at most; usual are 1 to 3 KB with the responder's certificate.
    public static let maximumBytes = 64 << 10
    /// Certificates looked at in an answer: one is usual, and each may cost a check of a signature.
    static let maximumCertificates: Int32 = 4
    /// How old an answer that does not say when it ends may be (seconds): a day.
    static let longestUndated: Int64 = 86_400
    /// Statements looked at in an answer; about one certificate one is usual.
    static let maximumStatements: Int32 = 16

    /// What `der` says about `certificate` of `issuer` at `now` (seconds since 1970).
    ///
    /// - Parameters:
    ///   - request: the question, if it had a nonce: an answer with another one is refused, one without is not.
    ///   - skew: clocks differ; seconds by which an answer may begin late or have ended.
    public static func check(
        _ der: [UInt8], about certificate: Certificate, issuedBy issuer: Certificate,
        answering request: OCSPRequest? = nil,
        at now: Int64, skew: Int64 = TrustStore.clockSkew
    ) throws(OCSPError) -> OCSPAnswer {
        defer { OpenSSLErrorQueue.clear() }
        guard der.count <= maximumBytes else { throw .tooLarge(limit: maximumBytes) }
        let basic = try BasicResponse(der)
        try OCSPResponder.check(basic, issuer: issuer, at: now, skew: skew)
        // 0 is "both have one, and they differ".
        if let request, OCSP_check_nonce(request.pointer, basic.pointer) == 0 { throw .nonceMismatch }
        guard OCSP_BASICRESP_get_ext_by_critical(basic.pointer, 1, -1) < 0 else { throw .criticalExtension }
        let statement = try statement(in: basic, about: certificate, of: issuer)
        guard OCSP_SINGLERESP_get_ext_by_critical(statement, 1, -1) < 0 else { throw .criticalExtension }
        let answer = try answer(statement, producedAt: time(OCSP_resp_get0_produced_at(basic.pointer)))
        try checkFreshness(answer, at: now, skew: skew)
        return answer
    }

    /// OpenSSL's answer, and its owner.
    final class BasicResponse {
        let pointer: OpaquePointer

        init(_ der: [UInt8]) throws(OCSPError) {
            let outer: OpaquePointer? = der.withUnsafeBufferPointer { buffer in
                var position = buffer.baseAddress
                guard let response = d2i_OCSP_RESPONSE(nil, &position, buffer.count) else { return nil }
                guard position == buffer.baseAddress?.advanced(by: buffer.count) else {
                    OCSP_RESPONSE_free(response)
                    return nil
                }
                return response
            }
            guard let outer else { throw .malformed(reason: OpenSSLErrorQueue.drain()) }
            defer { OCSP_RESPONSE_free(outer) }
            let status = OCSP_response_status(outer)
            guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { throw .refused(status: Int(status)) }
            guard let basic = OCSP_response_get1_basic(outer) else {
                throw .malformed(reason: OpenSSLErrorQueue.drain())
            }
            pointer = basic
        }

        deinit { OCSP_BASICRESP_free(pointer) }
    }

    /// The one statement about the certificate; two that contradict each other prove nothing, so the first is as good as
    /// the other only if there is no other.
    private static func statement(
        in basic: BasicResponse, about certificate: Certificate, of issuer: Certificate
    ) throws(OCSPError) -> OpaquePointer {
        var found: [OpaquePointer] = []
        for index in 0..<min(OCSP_resp_count(basic.pointer), maximumStatements) {
            guard let single = OCSP_resp_get0(basic.pointer, index), let id = OCSP_SINGLERESP_get0_id(single) else {
                continue
            }
            if OCSPCertificateID.matches(id, certificate, issuer) { found.append(single) }
        }
        guard let statement = found.first else { throw .otherCertificate }
        guard found.count == 1 else { throw .malformed(reason: "several statements about one certificate") }
        return statement
    }

    private static func answer(_ statement: OpaquePointer, producedAt: Int64) throws(OCSPError) -> OCSPAnswer {
        var reason: Int32 = -1
        var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let code = OCSP_single_get0_status(statement, &reason, &revokedAt, &thisUpdate, &nextUpdate)
        let status: OCSPAnswer.Status
        switch code {
        case V_OCSP_CERTSTATUS_GOOD: status = .good
        case V_OCSP_CERTSTATUS_REVOKED:
            status = .revoked(
                at: try time(revokedAt), reason: reason < 0 ? nil : RevocationReason(rawValue: Int(reason)))
        case V_OCSP_CERTSTATUS_UNKNOWN: status = .unknown
        default: throw .malformed(reason: "it has no status")
        }
        return OCSPAnswer(
            status: status, thisUpdate: try time(thisUpdate),
            nextUpdate: try nextUpdate.map { (text) throws(OCSPError) in try time(text) }, producedAt: producedAt)
    }

    private static func checkFreshness(_ answer: OCSPAnswer, at now: Int64, skew: Int64) throws(OCSPError) {
        guard answer.thisUpdate <= now.addingReportingOverflow(skew).partialValue else {
            throw .notYetValid(from: answer.thisUpdate)
        }
        guard let end = answer.nextUpdate else {
            // It says that there is always a newer one: an old one was kept by somebody.
            let last = answer.thisUpdate.addingReportingOverflow(longestUndated).partialValue
            guard last >= now else { throw .stale(since: last) }
            return
        }
        guard end >= answer.thisUpdate else { throw .malformed(reason: "it ends before it begins") }
        guard end >= now.subtractingReportingOverflow(skew).partialValue else { throw .stale(since: end) }
    }

    private static func time(_ text: UnsafePointer<ASN1_GENERALIZEDTIME>?) throws(OCSPError) -> Int64 {
        do {
            return try seconds(of: text)
        } catch {
            throw .malformed(reason: "a time cannot be read")
        }
    }
}
