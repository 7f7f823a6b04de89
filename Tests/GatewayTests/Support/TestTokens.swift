import JOSE
import JSON
import Messages

@testable import Gateway

/// Tokens of the two test apps, signed with keys the tests know.
enum TestTokens {
    /// Milliseconds: the tests' now.
    static let now: Int64 = 1_780_000_000_000
    static let issuer = "https://login.example"

    static func secret(_ app: String, _ kind: TokenKind) -> [UInt8] {
        Array("a secret of \(app) for \(kind.rawValue) tokens, long enough".utf8)
    }

    static func audience(_ app: String, _ kind: TokenKind) -> String { "\(app)-\(kind.rawValue)" }

    static func verifier(_ app: String, _ kind: TokenKind) throws -> JWTVerifier {
        JWTVerifier(
            keys: [try JWTKey.hs256(secret: secret(app, kind))], issuer: issuer, audience: audience(app, kind))
    }

    /// A token; `lifetime` in seconds from now, negative for one that has expired.
    static func make(
        _ app: String = "clouds", _ kind: TokenKind = .login, subject: String? = "user-1", lifetime: Int64 = 600,
        audience: String? = nil, secret: [UInt8]? = nil, email: String? = nil, isVerified: Bool? = nil
    ) throws -> String {
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": .string(audience ?? Self.audience(app, kind)),
            "exp": .integer(now / 1_000 + lifetime),
        ]
        if let email { claims.set("email", .string(email)) }
        if let isVerified { claims.set("email_verified", .bool(isVerified)) }
        if let subject { claims.set("sub", .string(subject)) }
        return try JWTSigner.hs256(secret: secret ?? Self.secret(app, kind)).sign(claims)
    }
}
