public import JSON

/// What a verified token says (RFC 7519 §4.1). Times are seconds since 1970.
public struct JWTClaims: Sendable {
    /// `sub`.
    public let subject: String?
    /// `iss`.
    public let issuer: String
    /// `aud`, always as a list.
    public let audience: [String]
    /// `exp`.
    public let expiresAt: Int64
    /// `nbf`.
    public let notBefore: Int64?
    /// `iat`.
    public let issuedAt: Int64?
    /// `jti`.
    public let id: String?
    /// The header's `kid`, as the token has it.
    public let keyID: String?
    /// All claims, these and others.
    public let all: JSONObject

    init(_ claims: JSONObject, keyID: String?) throws(JWTError) {
        subject = try Self.text("sub", in: claims)
        guard let issuer = try Self.text("iss", in: claims) else { throw .claim("iss") }
        self.issuer = issuer
        audience = try Self.audience(in: claims)
        guard let expiresAt = try Self.time("exp", in: claims) else { throw .claim("exp") }
        self.expiresAt = expiresAt
        notBefore = try Self.time("nbf", in: claims)
        issuedAt = try Self.time("iat", in: claims)
        id = try Self.text("jti", in: claims)
        self.keyID = keyID
        all = claims
    }

    private static func text(_ name: String, in claims: JSONObject) throws(JWTError) -> String? {
        guard let value = claims[name] else { return nil }
        guard let text = value.stringValue else { throw .claim(name) }
        return text
    }

    private static func audience(in claims: JSONObject) throws(JWTError) -> [String] {
        switch claims["aud"] {
        case .string(let one): return [one]
        case .array(let several):
            var audience: [String] = []
            for value in several {
                guard let text = value.stringValue else { throw .claim("aud") }
                audience.append(text)
            }
            return audience
        default: throw .claim("aud")
        }
    }

    /// A NumericDate may have a fraction (RFC 7519 §2), which is cut off.
    private static func time(_ name: String, in claims: JSONObject) throws(JWTError) -> Int64? {
        switch claims[name] {
        case nil: return nil
        case .integer(let seconds): return seconds
        case .number(let number):
            guard let value = number.doubleValue, let seconds = Int64(exactly: value.rounded(.down)) else {
                throw .claim(name)
            }
            return seconds
        default: throw .claim(name)
        }
    }
}
