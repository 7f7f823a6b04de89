import Apps
import JOSE
import Messages

/// What the gateway knows of an app: how its callers prove who they are, and how its assets are called in JSON.
struct ServedApp: Sendable {
    /// An asset and its key in a balance.
    struct Asset: Sendable, Equatable {
        /// The asset, such as `TIME_MINUTES`.
        let id: AssetID
        /// Its key in JSON, such as `timeMinutes`.
        let jsonName: String
    }

    /// The app.
    let id: AppID
    /// Which calls its clients make.
    let surface: AppConfiguration.Surface
    /// Its assets, in the order balances show them.
    let assets: [Asset]
    /// Checks login tokens.
    let login: JWTVerifier
    /// Checks service tokens; nil when no server of the app may call.
    let service: JWTVerifier?

    /// What its paths start with, such as `/clouds`; empty = nothing in front.
    var pathPrefix = ""
    /// Hashes callers for starter offers.
    var identities = IdentityHasher([])

    /// What checks tokens of `kind`.
    func verifier(for kind: TokenKind) -> JWTVerifier? {
        switch kind {
        case .login: login
        case .service: service
        }
    }
}
