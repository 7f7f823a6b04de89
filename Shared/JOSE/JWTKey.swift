public import Crypto

/// A key that tokens are checked with. Its algorithm belongs to the key, never to the token (RFC 8725 §3.1).
public struct JWTKey: Sendable, CustomStringConvertible {
    /// What the key is.
    enum Material: Sendable {
        case hs256(secret: [UInt8])
        case es256(P256.PublicKey)
        case rs256(RSA.PublicKey)
    }

    /// Bytes an HS256 secret must have: as many as its hash (RFC 7518 §3.2).
    public static let minimumSecretBytes = 32

    /// Compared with the token's `kid`; nil accepts tokens with any or none.
    public let id: String?
    let material: Material

    /// A shared secret for HS256; fewer than 32 bytes are refused.
    public static func hs256(id: String? = nil, secret: [UInt8]) throws(JWTError) -> JWTKey {
        guard secret.count >= minimumSecretBytes else { throw .weakKey }
        return JWTKey(id: id, material: .hs256(secret: secret))
    }

    /// A public key for ES256.
    public static func es256(id: String? = nil, _ key: P256.PublicKey) -> JWTKey {
        JWTKey(id: id, material: .es256(key))
    }

    /// A public key for RS256.
    public static func rs256(id: String? = nil, _ key: RSA.PublicKey) -> JWTKey {
        JWTKey(id: id, material: .rs256(key))
    }

    /// The only algorithm this key is used with.
    public var algorithm: String {
        switch material {
        case .hs256: "HS256"
        case .es256: "ES256"
        case .rs256: "RS256"
        }
    }

    /// Id and algorithm, nothing secret.
    public var description: String { "\(algorithm) key \(id ?? "without id")" }

    func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        switch material {
        case .hs256(let secret): constantTimeEqual(HMAC.sha256(key: secret, message), signature)
        case .es256(let key): key.isValidSignature(signature, for: Array(message))
        case .rs256(let key): key.isValidSignature(signature, for: message)
        }
    }
}
