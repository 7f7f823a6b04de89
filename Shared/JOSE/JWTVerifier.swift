import JSON

/// Checks tokens of one issuer for one audience (RFC 7519, RFC 8725). Immutable; any thread.
///
/// Algorithms are HS256, ES256 and RS256, fixed by the key. `exp`, `iss` and `aud` are demanded; `jku`, `jwk`, `x5u`
/// and `x5c` are never looked at, and `kid` is compared with configured ids, nothing else.
public struct JWTVerifier: Sendable {
    /// Clocks that differ more than this are broken, not late.
    public static let maximumLeeway: Int64 = 60
    /// A token with a few claims has under 1 KB.
    public static let defaultMaximumSize = 8 << 10

    private let keys: [JWTKey]
    private let issuer: String
    private let audience: String
    private let leeway: Int64
    private let maximumSize: Int

    /// Leeway is in seconds and at most 60; `maximumSize` in bytes of the whole token.
    public init(
        keys: [JWTKey], issuer: String, audience: String, leeway: Int64 = 30,
        maximumSize: Int = JWTVerifier.defaultMaximumSize
    ) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.leeway = min(max(leeway, 0), Self.maximumLeeway)
        self.maximumSize = maximumSize
    }

    /// The claims of a good token; `now` is in seconds since 1970.
    public func verify(_ token: String, now: Int64) throws(JWTError) -> JWTClaims {
        try verify(Array(token.utf8), now: now)
    }

    /// The claims of a good token; `now` is in seconds since 1970.
    public func verify(_ token: [UInt8], now: Int64) throws(JWTError) -> JWTClaims {
        let claims: JSONObject
        let keyID: String?
        do {
            let limits = CompactJWS.Limits(maximumBytes: maximumSize, maximumHeaderBytes: maximumSize)
            let jws = try CompactJWS(token, limits: limits)
            let header = try jws.decodeHeader()
            keyID = try Self.keyID(in: header)
            try Self.checkType(in: header)
            try checkSignature(of: jws, algorithm: header["alg"]?.stringValue ?? "", keyID: keyID)
            claims = try Self.object(jws.decodePayload())
        } catch let error as JWSError {
            throw .format(error)
        } catch let error as JWTError {
            throw error
        } catch {
            throw .signature  // Not reached: only the two types above are thrown.
        }
        let verified = try JWTClaims(claims, keyID: keyID)
        try check(verified, now: now)
        return verified
    }

    private static func object(_ payload: [UInt8]) throws(JWSError) -> JSONObject {
        do {
            return try JSONReader.parseObject(payload)
        } catch {
            throw .invalidJSON(.payload, error)
        }
    }

    private static func keyID(in header: JSONObject) throws(JWTError) -> String? {
        guard let value = header["kid"] else { return nil }
        guard let text = value.stringValue else { throw .unknownKey }
        return text
    }

    /// A missing type is common; a present one must be a token for access (RFC 8725 §3.11, RFC 9068).
    private static func checkType(in header: JSONObject) throws(JWTError) {
        guard let value = header["typ"] else { return }
        guard let type = value.stringValue, ["jwt", "at+jwt"].contains(type.lowercased()) else { throw .type }
    }

    private func checkSignature(of jws: CompactJWS, algorithm: String, keyID: String?) throws {
        let named = keys.filter { key in keyID == nil || key.id == nil || key.id == keyID }
        guard !named.isEmpty else { throw JWTError.unknownKey }
        let usable = named.filter { $0.algorithm == algorithm }
        guard !usable.isEmpty else { throw JWTError.algorithm }
        let signature = try jws.decodeSignature()
        guard usable.contains(where: { $0.isValidSignature(signature, for: jws.signingInput) }) else {
            throw JWTError.signature
        }
    }

    private func check(_ claims: JWTClaims, now: Int64) throws(JWTError) {
        guard claims.issuer == issuer else { throw .issuer }
        guard claims.audience.contains(audience) else { throw .audience }
        let latest = now.addingReportingOverflow(leeway).partialValue
        let earliest = now.subtractingReportingOverflow(leeway).partialValue
        // "on or after" the expiration time it must not be accepted (RFC 7519 §4.1.4).
        guard claims.expiresAt > earliest else { throw .expired }
        if let notBefore = claims.notBefore, notBefore > latest { throw .notYetValid }
        if let issuedAt = claims.issuedAt, issuedAt > latest { throw .issuedInFuture }
    }
}
