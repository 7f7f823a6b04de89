public import Crypto
import JOSE
import JSON

/// What proves to Apple who asks: the in-app purchase key of one app.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests.
public struct ServerAPICredentials: Sendable {
    /// The issuer id of App Store Connect, "Users and Access", "Integrations", "In-App Purchase".
    public let issuerID: String
    /// The id of the key.
    public let keyID: String
    /// The app that is spoken for.
    public let bundleID: String
    private let key: P256.PrivateKey

    /// How far `iat` lies back (s): a clock that runs ahead of Apple's would otherwise make every call end in 401.
    static let backdating: Int64 = 60
    /// How long a token holds (s). Apple allows an hour and refuses exactly an hour; one is made for each request.
    static let lifetime: Int64 = 300

    /// Credentials with a key of kind "In-App Purchase" (a key for the App Store Connect API is answered with 401).
    public init(issuerID: String, keyID: String, bundleID: String, key: P256.PrivateKey) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.bundleID = bundleID
        self.key = key
    }

    /// A token for one request made at `now` (s since 1970).
    func token(now: Int64) throws(ServerAPIError) -> String {
        let issuedAt = now - Self.backdating
        do {
            return try JWTSigner.es256(id: keyID, key).sign([
                "iss": .string(issuerID), "iat": .integer(issuedAt), "exp": .integer(now + Self.lifetime),
                "aud": "appstoreconnect-v1", "bid": .string(bundleID),
            ])
        } catch {
            throw .unusableKey
        }
    }
}
