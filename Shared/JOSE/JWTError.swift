/// Why a JSON Web Token is refused. Descriptions hold nothing of the token.
public enum JWTError: Error, Sendable, Equatable {
    /// No acceptable compact JWS.
    case format(JWSError)
    /// `typ` names another kind of token.
    case type
    /// No key is configured for the token's algorithm.
    case algorithm
    /// No key has the token's `kid`.
    case unknownKey
    /// The signature is wrong.
    case signature
    /// A claim is missing or of the wrong type.
    case claim(String)
    /// `exp` has passed.
    case expired
    /// `nbf` lies ahead.
    case notYetValid
    /// `iat` lies ahead.
    case issuedInFuture
    /// `iss` is another.
    case issuer
    /// `aud` does not contain ours.
    case audience
    /// A secret for HS256 shorter than its hash (RFC 7518 §3.2): refused when it is configured.
    case weakKey
    /// Signing failed.
    case signing

    /// A stable dotted name for logs and metrics.
    public var code: String {
        switch self {
        case .format: "jwt.format"
        case .type: "jwt.type"
        case .algorithm: "jwt.algorithm"
        case .unknownKey: "jwt.unknown_key"
        case .signature: "jwt.signature"
        case .claim: "jwt.claim"
        case .expired: "jwt.expired"
        case .notYetValid: "jwt.not_yet_valid"
        case .issuedInFuture: "jwt.issued_in_future"
        case .issuer: "jwt.issuer"
        case .audience: "jwt.audience"
        case .weakKey: "jwt.weak_key"
        case .signing: "jwt.signing"
        }
    }

    /// The same token will be refused again (one that is not valid yet is the client's to send later).
    public var isRetryable: Bool { false }
}

extension JWTError: CustomStringConvertible {
    /// One sentence for a log or an error answer.
    public var description: String {
        switch self {
        case .format(let error): "not a token: \(error)"
        case .type: "the token is of another type"
        case .algorithm: "the token's algorithm is not the one of any configured key"
        case .unknownKey: "the token names a key that is not configured"
        case .signature: "the token's signature is wrong"
        case .claim(let name): "the claim \(name) is missing or has the wrong type"
        case .expired: "the token has expired"
        case .notYetValid: "the token is not valid yet"
        case .issuedInFuture: "the token was issued in the future"
        case .issuer: "the token is from another issuer"
        case .audience: "the token is for another audience"
        case .weakKey: "an HS256 secret must have at least 32 bytes"
        case .signing: "the token could not be signed"
        }
    }
}
