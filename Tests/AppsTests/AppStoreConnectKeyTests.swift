import Apps
import Crypto
import Messages
import Testing

/// The key for Apple's Server API, and the policy that needs it.
@Suite struct AppStoreConnectKeyTests {
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    private static func folder(_ section: String, _ policies: String = "orderExpiryHours: 48") throws -> TemporaryFolder
    {
        let folder = try TemporaryFolder()
        let text = AppText.make(replacing: ["orderExpiryHours: 48": policies])
        try folder.write("one.yaml", text + "appStoreConnect: {\(section)}\n")
        return folder
    }

    private static func key(_ folder: TemporaryFolder) throws -> AppStoreConnectKey {
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        return try #require(app.appStoreConnect)
    }

    private static let whole = "issuerId: \(issuer), keyId: 2X9R4HXF34, privateKeyFile: app.p8"

    @Test func `issuer, key id and the key's file are read; without the section there is none`() throws {
        let folder = try Self.folder(Self.whole)
        let written = try P256.PrivateKey.generate()
        try folder.write("app.p8", try written.pemRepresentation(), mode: 0o400)
        let key = try Self.key(folder)
        #expect(key.issuerID == Self.issuer && key.keyID == "2X9R4HXF34" && key.file == folder.path + "app.p8")
        let loaded = try key.load().get()
        #expect(try loaded.publicKey().derRepresentation() == written.publicKey().derRepresentation())
        let plain = try TemporaryFolder()
        try plain.write("one.yaml", AppText.make())
        #expect(try AppsDirectory.load(plain.path).get().first?.appStoreConnect == nil)
    }

    @Test(arguments: [0o440, 0o404, 0o644, 0o620] as [UInt32])
    func `a key that others can use is refused (S52)`(mode: UInt32) throws {
        let folder = try Self.folder(Self.whole)
        try folder.write("app.p8", try P256.PrivateKey.generate().pemRepresentation(), mode: mode)
        guard case .failure(let error) = try Self.key(folder).load() else {
            Issue.record("it was read")
            return
        }
        #expect("\(error)".contains("others than its owner may use it (mode 0\(String(mode, radix: 8))); chmod 0400"))
        #expect(error.code == "apps.invalid_key")
    }

    @Test(arguments: [("", "it is no P-256 private key"), ("nonsense", "it is no P-256 private key")])
    func `what is no private key is refused, without showing it`(text: String, problem: String) throws {
        let folder = try Self.folder(Self.whole)
        try folder.write("app.p8", text)
        guard case .failure(let error) = try Self.key(folder).load() else {
            Issue.record("it was read")
            return
        }
        #expect("\(error)".contains(problem) && (text.isEmpty || !"\(error)".contains(text)))
    }

    @Test func `a public key, and a file that is not there, are told`() throws {
        let folder = try Self.folder(Self.whole)
        if case .success = try Self.key(folder).load() { Issue.record("there is no file") }
        try folder.write("app.p8", try P256.PrivateKey.generate().publicKey().pemRepresentation())
        if case .success = try Self.key(folder).load() { Issue.record("a public key was taken") }
    }

    @Test(arguments: [
        "keyId: k, privateKeyFile: f", "issuerId: x, keyId: k, privateKeyFile: f",
        "issuerId: 57246542-96fe-1a63-e053-0824d011072a, privateKeyFile: f",
        "issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: k",
        "issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: k, privateKeyFile: f, other: 1",
        "issuerId: 57246542-96fe-1a63-e053-0824d01107zz, keyId: k, privateKeyFile: f",
    ])
    func `mistakes in the section are named`(section: String) throws {
        guard case .failure(let error) = AppsDirectory.load(try Self.folder(section).path) else {
            Issue.record("it was accepted")
            return
        }
        #expect(!error.problems.isEmpty)
    }

    @Test func `the policy says whether Apple is answered, and what is preferred`() throws {
        func policy(_ text: String) throws -> ConsumptionPolicy? {
            let folder = try Self.folder(Self.whole, text)
            return try AppsDirectory.load(folder.path).get().first?.catalog.definition.policies.consumption
        }
        #expect(try policy("orderExpiryHours: 48") == nil)
        #expect(try policy("consumption: never") == nil)
        #expect(try policy("consumption: answer") == ConsumptionPolicy(preference: nil, isSampleProvided: false))
        #expect(
            try policy("consumption: answer, refundPreference: none")
                == ConsumptionPolicy(preference: nil, isSampleProvided: false))
        #expect(
            try policy("consumption: answer, refundPreference: grantProrated, sampleContent: true")
                == ConsumptionPolicy(preference: .grantProrated, isSampleProvided: true))
    }
}
