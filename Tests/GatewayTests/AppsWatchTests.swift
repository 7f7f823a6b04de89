import Crypto
import JOSE
import JSON
import Messages
import Observability
import Reloading
import Testing

@testable import Gateway

/// Files that change while the gateway serves.
@Suite struct AppsWatchTests {
    private struct Watched {
        let folder: AppFolder
        let apps: LiveApps
        var watch: AppsWatch<AppDirectory>
        let metrics = Metrics()

        init(_ folder: AppFolder) {
            self.folder = folder
            let read = AppFiles.read(folder.path)
            let path = folder.path
            apps = LiveApps(read.directory)
            watch = AppsWatch(
                folder: path, live: apps, first: read.reading, logger: .silent, metrics: metrics
            ) { AppFiles.read(path).reading }
        }

        /// Whether a user is let in with this token.
        func accepts(_ token: String) throws -> Bool {
            let found = try #require(apps.value.find(host: "clouds.example", path: "/pay/api/wallet/balance"))
            return (try? found.app.login.verify(token, now: TestTokens.now / 1_000)) != nil
        }
    }

    private static func set(_ keys: [(id: String, key: RSA.PrivateKey)]) throws -> [UInt8] {
        let entries = try keys.map { id, key -> JSONValue in
            // SubjectPublicKeyInfo of 2,048 bits: a head of 33 bytes, 256 of the modulus, five of the exponent 65,537.
            let der = try key.publicKey().derRepresentation()
            let modulus = Base64URL.string(Array(der.dropLast(5).suffix(256)))
            return .object(["kty": "RSA", "kid": .string(id), "n": .string(modulus), "e": "AQAB"])
        }
        return JSONWriter.write(.object(["keys": .array(entries)]))
    }

    private static func token(_ id: String, _ key: RSA.PrivateKey) throws -> String {
        try JWTSigner.rs256(id: id, key).sign([
            "iss": .string(TestTokens.issuer), "aud": "clouds-login", "sub": "user-1",
            "exp": .integer(TestTokens.now / 1_000 + 600),
        ])
    }

    @Test func `keys of a login service are changed without a restart (RS256, JWKS)`() throws {
        let (old, new) = (try RSA.PrivateKey.generate(), try RSA.PrivateKey.generate())
        let folder = try AppFolder()
        try folder.write("keys/login.jwks.json", try Self.set([("old", old)]), mode: 0o644)
        try folder.replace(
            "{id: login-1, algorithm: HS256, secretFile: keys/login}", "{jwksFile: keys/login.jwks.json}")
        var watched = Watched(folder)
        #expect(try watched.accepts(try Self.token("old", old)))
        #expect(try !watched.accepts(try Self.token("new", new)))
        #expect(watched.watch.look() == .unchanged)
        try folder.write("keys/login.jwks.json", try Self.set([("old", old), ("new", new)]), mode: 0o644)
        #expect(watched.watch.look() == .replaced(apps: 1))
        #expect(try watched.accepts(try Self.token("old", old)))
        #expect(try watched.accepts(try Self.token("new", new)))
        try folder.write("keys/login.jwks.json", try Self.set([("new", new)]), mode: 0o644)
        #expect(watched.watch.look() == .replaced(apps: 1))
        #expect(try !watched.accepts(try Self.token("old", old)))
        #expect(watched.watch.look() == .unchanged)
    }

    @Test func `a file with a mistake changes nothing until it is mended`() throws {
        var watched = Watched(try AppFolder())
        let token = try TestTokens.make()
        try watched.folder.replace("surface: orders", "surface: ordres")
        #expect(watched.watch.look() == .rejected(problems: 1))
        #expect(try watched.accepts(token))
        #expect(watched.metrics.render().contains("purser_apps_stale 1"))
        #expect(watched.watch.look() == .unchanged)
        try watched.folder.replace("surface: ordres", "surface: orders")
        #expect(watched.watch.look() == .replaced(apps: 1))
        #expect(watched.metrics.render().contains("purser_apps_stale 0"))
    }

    @Test func `a key file that gets unusable keeps the former key in force`() throws {
        var watched = Watched(try AppFolder())
        let token = try TestTokens.make()
        try watched.folder.write("keys/login", Array("short".utf8), mode: 0o600)
        #expect(watched.watch.look() == .rejected(problems: 1))
        #expect(try watched.accepts(token))
        try watched.folder.write("keys/login", Array(String(repeating: "n", count: 40).utf8), mode: 0o600)
        #expect(watched.watch.look() == .replaced(apps: 1))
        #expect(try !watched.accepts(token))
    }

    @Test func `an app that is added is served, without a restart`() throws {
        var watched = Watched(try AppFolder())
        #expect(watched.apps.value.find(host: "other.example", path: "/api/wallet/balance") == nil)
        let second = AppFolder.clouds.replacing("id: clouds", with: "id: other")
            .replacing("clouds.example", with: "other.example").replacing("pathPrefix: /pay\n", with: "")
            .replacing("com.example.clouds", with: "com.example.other").replacing(
                "audience: clouds", with: "audience: other")
        try watched.folder.write("other.yaml", Array(second.utf8), mode: 0o644)
        #expect(watched.watch.look() == .replaced(apps: 2))
        let found = watched.apps.value.find(host: "other.example", path: "/api/wallet/balance")
        #expect(found?.app.id == AppID("other"))
    }
}
