import Apps
import Crypto
import JOSE
import Observability
import Testing
import YAML

@Suite struct AppKeysTests {
    private static let secret = String(repeating: "s", count: 32)

    private static func load(
        secret: [UInt8] = Array(secret.utf8), secretMode: UInt32 = 0o400, pem: String? = nil, pemMode: UInt32 = 0o644
    ) throws -> (result: Result<AppKeys, AppsError>, folder: TemporaryFolder) {
        let folder = try TemporaryFolder()
        try folder.write("one.yaml", AppText.make())
        try folder.write("login.secret", secret, mode: secretMode)
        let publicKey = try P256.PrivateKey.generate().publicKey()
        try folder.write("service.pem", try pem ?? publicKey.pemRepresentation(), mode: pemMode)
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        return (AppKeys.load(app), folder)
    }

    private static func problems(_ loaded: (result: Result<AppKeys, AppsError>, folder: TemporaryFolder)) -> [String] {
        guard case .failure(let error) = loaded.result else { return [] }
        return error.problems.map {
            $0.description.split(separator: loaded.folder.path, omittingEmptySubsequences: false).joined()
        }
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func `secrets and public keys are read, one line break at the end is none of a secret`(
        _ end: String
    ) throws {
        let keys = try Self.load(secret: Array((Self.secret + end).utf8)).result.get()
        #expect(keys.login.map(\.id) == ["k"])
        #expect(keys.login.first?.material.reveal() == Self.secret)
        let der = try #require(keys.service.first).material.revealBytes()
        #expect(throws: Never.self) { try P256.PublicKey(der: der) }
        #expect("\(keys)".contains(Self.secret) == false)
    }

    @Test(arguments: [0o440, 0o404, 0o644, 0o620, 0o602] as [UInt32])
    func `a secret that others can use is refused (S52)`(_ mode: UInt32) throws {
        let problems = Self.problems(try Self.load(secretMode: mode))
        let octal = "0" + String(mode, radix: 8)
        #expect(
            problems == [
                "one.yaml:7:86: key k, login.secret: others than its owner may use it (mode \(octal)); chmod 0400"
            ])
    }

    @Test func `a public key that others can change is refused`() throws {
        let problems = Self.problems(try Self.load(pemMode: 0o664))
        #expect(problems.count == 1)
        #expect(
            problems.first?.hasSuffix("service.pem: others than its owner may change it (mode 0664); chmod 0644")
                == true)
    }

    @Test func `a short secret is refused, its line break not counted`() throws {
        let problems = Self.problems(try Self.load(secret: Array((String(repeating: "s", count: 31) + "\n").utf8)))
        #expect(problems.first?.hasSuffix("the secret has 31 bytes, at least 32 are needed") == true)
    }

    @Test func `another curve, a private key and garbage are refused as public keys`() throws {
        let other = try P384.PrivateKey.generate().publicKey()
        let privateKey = try P256.PrivateKey.generate().pemRepresentation()
        for pem in [try PEM.encode(label: "PUBLIC KEY", der: other.derRepresentation()), privateKey, "x", ""] {
            let problems = Self.problems(try Self.load(pem: pem, pemMode: 0o600))
            #expect(problems.count == 1)
            #expect(problems.first?.hasSuffix("it is no P-256 public key in PEM (BEGIN PUBLIC KEY)") == true)
        }
    }

    @Test func `an RSA key in PEM is read, and none of fewer bits or another kind`() throws {
        let folder = try TemporaryFolder()
        let text = AppText.make(replacing: ["algorithm: ES256": "algorithm: RS256"])
        try folder.write("one.yaml", text)
        try folder.write("login.secret", Array(Self.secret.utf8), mode: 0o400)
        let key = try RSA.PrivateKey.generate().publicKey()
        try folder.write("service.pem", try key.pemRepresentation(), mode: 0o644)
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        let read = try #require(try AppKeys.load(app).get().service.first)
        #expect(read.algorithm == .rs256)
        #expect(read.material.revealBytes() == (try key.derRepresentation()))
        try folder.write("service.pem", try P256.PrivateKey.generate().publicKey().pemRepresentation(), mode: 0o644)
        guard case .failure(let error) = AppKeys.load(app) else {
            Issue.record("loaded")
            return
        }
        #expect(error.problems.first?.message.contains("no RSA public key of 2,048") == true)
    }

    @Test func `a set of keys is read beside others; one that others may write, or of no use, is named with its line`()
        throws
    {
        let folder = try TemporaryFolder()
        let text = AppText.make(replacing: [
            "{id: k, algorithm: ES256, publicKeyFile: service.pem}": "{jwksFile: set.json}"
        ])
        try folder.write("one.yaml", text)
        try folder.write("login.secret", Array(Self.secret.utf8), mode: 0o400)
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        #expect(app.keyFiles == [folder.path + "login.secret", folder.path + "set.json"])
        let point = try P256.PrivateKey.generate().publicKey().derRepresentation().suffix(64)
        let (x, y) = (Base64URL.string(Array(point.prefix(32))), Base64URL.string(Array(point.suffix(32))))
        let set = #"{"keys":[{"kty":"EC","crv":"P-256","kid":"e-1","x":"\#(x)","y":"\#(y)"}]}"#
        try folder.write("set.json", set, mode: 0o644)
        let keys = try AppKeys.load(app).get()
        #expect(keys.service.map(\.id) == ["e-1"] && keys.service.first?.algorithm == .es256)
        for (content, mode, words) in [(set, 0o666, "others than its owner may change"), ("{}", 0o644, "Key Set")] {
            try folder.write("set.json", content, mode: UInt32(mode))
            guard case .failure(let error) = AppKeys.load(app), let problem = error.problems.first else {
                Issue.record("loaded")
                continue
            }
            #expect(problem.description.contains("one.yaml:8:"))
            #expect(problem.message.contains(words), "\(problem)")
        }
    }

    @Test func `missing files are all named`() throws {
        let folder = try TemporaryFolder()
        try folder.write("one.yaml", AppText.make())
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        guard case .failure(let error) = AppKeys.load(app) else {
            Issue.record("loaded")
            return
        }
        #expect(error.problems.count == 2)
        #expect(error.problems.allSatisfy { $0.message.hasSuffix("it does not exist") })
        #expect(error.code == "apps.invalid_key")
    }
}
