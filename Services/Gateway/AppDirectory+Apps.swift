import Apps
import Crypto
import JOSE
import Messages
import Observability
import Service

extension AppDirectory {
    /// The apps of a folder of `<app>.yaml` files with their keys, read once at start. What cannot be used becomes a
    /// problem of the setting `APPS`; then nothing is served.
    init(folder: String, _ reader: inout SettingsReader) {
        self.init([])
        do {
            var places: [Place] = []
            for app in try AppsDirectory.load(folder).get() {
                switch app.surface {
                case .orders: places.append(try Place(app))
                }
            }
            self.init(places)
        } catch {
            for problem in error.problems { reader.problem("APPS", "has a mistake at \(problem)") }
        }
    }
}

extension AppDirectory.Place {
    /// Where `app` is served, with the keys of its files.
    init(_ app: AppConfiguration) throws(AppsError) {
        let keys = try AppKeys.load(app).get()
        let assets = app.catalog.definition.assets.map { ServedApp.Asset(id: $0.asset, jsonName: $0.jsonName) }
        hosts = app.hosts
        pathPrefix = app.pathPrefix
        self.app = ServedApp(
            id: app.id, assets: assets, login: JWTVerifier(app.loginTokens, keys.login),
            service: app.serviceTokens.map { JWTVerifier($0, keys.service) })
    }
}

extension JWTVerifier {
    /// Checks tokens as an app's file says.
    fileprivate init(_ settings: TokenSettings, _ keys: [AppKeys.Key]) {
        // A key that is none was refused when its file was read; without keys nothing is accepted.
        self.init(keys: keys.compactMap { try? JWTKey($0) }, issuer: settings.issuer, audience: settings.audience)
    }
}

extension JWTKey {
    fileprivate init(_ key: AppKeys.Key) throws {
        switch key.algorithm {
        case .hs256: self = try .hs256(id: key.id, secret: key.material.revealBytes())
        case .es256: self = .es256(id: key.id, try P256.PublicKey(der: key.material.revealBytes()))
        }
    }
}
