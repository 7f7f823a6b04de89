import AppStoreSimulation
import Crypto
import JOSE
import JSON

/// Checks who calls the Server API, as Apple does: a token signed by the app's key.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests.
struct ServerAPIAuthentication: Sendable {
    /// What every token is for.
    private static let audience = "appstoreconnect-v1"
    /// A token must not be valid for an hour or longer (seconds); exactly an hour is refused too.
    private static let longestLifetime: Int64 = 3_600

    let apps: SimulatedApps

    /// The app that a request speaks for; nil answers 401.
    func app(authorization: String?, now: Int64) -> SimulatedApp? {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return nil }
        let token = Array(authorization.utf8.dropFirst("Bearer ".utf8.count))
        guard let parts = try? CompactJWS(token), let keyID = (try? parts.decodeHeader())?["kid"]?.stringValue else {
            return nil
        }
        return apps.apps(keyID: keyID).first { isGood(token, for: $0, now: now) }
    }

    private func isGood(_ token: [UInt8], for app: SimulatedApp, now: Int64) -> Bool {
        guard let pem = app.publicKey, let key = try? P256.PublicKey(pem: pem) else { return false }
        // Apple knows no leeway: a clock that runs ahead is answered 401.
        let verifier = JWTVerifier(
            keys: [.es256(id: app.keyID, key)], issuer: app.issuerID, audience: Self.audience, leeway: 0)
        guard let claims = try? verifier.verify(token, now: now), let issuedAt = claims.issuedAt else { return false }
        return claims.keyID == app.keyID && claims.all["bid"]?.stringValue == app.bundleID
            && claims.expiresAt - issuedAt < Self.longestLifetime
    }
}
