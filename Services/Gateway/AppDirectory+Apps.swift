import Apps
import Crypto
import JOSE
import Messages
import Observability
import Reloading
import Service

/// The apps that are served now. A request that has begun keeps what it found.
typealias LiveApps = Live<AppDirectory>

/// The apps of a folder of `<app>.yaml` files with their keys, as they were read at one time.
struct AppFiles: Sendable {
    /// Where they are served; empty if there are problems.
    private(set) var directory = AppDirectory([])
    /// What is wrong, a line each with file and line.
    private(set) var problems: [String] = []
    /// The files they name (keys, products), as far as they could be read.
    private(set) var named: [String] = []
    /// What a change is recognised by.
    private(set) var stamp: [String] = []

    /// The same for whoever looks after it.
    var reading: AppsReading<AppDirectory> {
        AppsReading(
            value: problems.isEmpty && directory.count > 0 ? directory : nil, count: directory.count,
            problems: problems,
            files: named, stamp: stamp)
    }

    /// Reads a folder. Blocks for file access.
    static func read(_ folder: String) -> AppFiles {
        var files = AppFiles()
        do throws(AppsError) {
            let apps = try AppsDirectory.load(folder).get()
            files.named = apps.flatMap(\.files)
            // Before the keys are read: one that changes meanwhile has another stamp at the next look.
            files.stamp = AppsDirectory.stamp(folder, others: files.named)
            var places: [AppDirectory.Place] = []
            for app in apps {
                do throws(AppsError) { places.append(try AppDirectory.Place(app)) } catch {
                    files.problems += error.problems.map { "\($0)" }
                }
            }
            if files.problems.isEmpty { files.directory = AppDirectory(places) }
        } catch {
            files.problems = error.problems.map { "\($0)" }
            files.stamp = AppsDirectory.stamp(folder, others: [])
        }
        return files
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
            id: app.id, surface: app.surface, assets: assets, login: JWTVerifier(app.loginTokens, keys.login),
            service: app.serviceTokens.map { JWTVerifier($0, keys.service) }, pathPrefix: app.pathPrefix,
            identities: IdentityHasher(keys.identity.map { .init(id: $0.id, secret: $0.material) }))
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
        case .rs256: self = .rs256(id: key.id, try RSA.PublicKey(der: key.material.revealBytes()))
        }
    }
}
