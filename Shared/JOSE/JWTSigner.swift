public import Crypto
public import JSON

/// Makes tokens: for Apple's Server API, for services and for tests. Any thread.
public struct JWTSigner: Sendable {
    private enum Material: Sendable {
        case hs256(secret: [UInt8])
        case es256(P256.PrivateKey)
        case rs256(RSA.PrivateKey)
    }

    private let id: String?
    private let material: Material

    /// Signs with HS256; a secret of fewer than 32 bytes is refused.
    public static func hs256(id: String? = nil, secret: [UInt8]) throws(JWTError) -> JWTSigner {
        guard secret.count >= JWTKey.minimumSecretBytes else { throw .weakKey }
        return JWTSigner(id: id, material: .hs256(secret: secret))
    }

    /// Signs with ES256.
    public static func es256(id: String? = nil, _ key: P256.PrivateKey) -> JWTSigner {
        JWTSigner(id: id, material: .es256(key))
    }

    /// Signs with RS256.
    public static func rs256(id: String? = nil, _ key: RSA.PrivateKey) -> JWTSigner {
        JWTSigner(id: id, material: .rs256(key))
    }

    /// A token with exactly these claims; header members are `alg`, `typ` and, if there is an id, `kid`.
    public func sign(_ claims: JSONObject) throws(JWTError) -> String {
        var header: JSONObject = ["alg": .string(algorithm), "typ": "JWT"]
        if let id { header.set("kid", .string(id)) }
        return try sign(claims, header: header)
    }

    /// A token with a header of the caller's making: tests need wrong ones.
    public func sign(_ claims: JSONObject, header: JSONObject) throws(JWTError) -> String {
        var text = Base64URL.encode(JSONWriter.write(header))
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(JSONWriter.write(claims))
        let signature: [UInt8]
        switch material {
        case .hs256(let secret): signature = HMAC.sha256(key: secret, text)
        case .es256(let key): signature = try Self.signed { () throws(CryptoError) in try key.signature(for: text) }
        case .rs256(let key): signature = try Self.signed { () throws(CryptoError) in try key.signature(for: text) }
        }
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(signature)
        return String(decoding: text, as: UTF8.self)
    }

    private var algorithm: String {
        switch material {
        case .hs256: "HS256"
        case .es256: "ES256"
        case .rs256: "RS256"
        }
    }

    private static func signed(_ sign: () throws(CryptoError) -> [UInt8]) throws(JWTError) -> [UInt8] {
        do throws(CryptoError) { return try sign() } catch { throw .signing }
    }
}
