public import JOSE
import JSON

/// Makes the tokens an app's own login would make, for demonstrations and tests: HS256 with a shared secret.
public struct LoginTokens: Sendable {
    /// What apps expect as `iss`.
    public var issuer: String
    /// What apps expect as `aud`.
    public var audience: String
    /// How long a token is valid, in seconds.
    public var lifetime: Int64 = 3_600
    private let signer: JWTSigner

    /// Signs with `secret` (at least 32 bytes), named `keyID` where the app has several keys.
    public init(issuer: String, audience: String, secret: [UInt8], keyID: String? = nil) throws(JWTError) {
        self.issuer = issuer
        self.audience = audience
        signer = try JWTSigner.hs256(id: keyID, secret: secret)
    }

    /// A token for `subject`: a user's id, or the name of a server; with a user's address where the login knows it.
    public func token(
        _ subject: String, email: String? = nil, now: Int64 = WallClock.milliseconds() / 1_000
    ) throws(JWTError) -> String {
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": .string(audience), "sub": .string(subject), "iat": .integer(now),
            "exp": .integer(now + lifetime),
        ]
        if let email { claims.set("email", .string(email)) }
        return try signer.sign(claims)
    }
}
