import Apps
import Observability
import Testing

/// The shared secret for `verifyReceipt`.
@Suite struct ReceiptSecretTests {
    private static let secret = "0123456789abcdef0123456789abcdef"

    private static func load(_ text: String?, mode: UInt32 = 0o600) throws -> Result<Secret, AppsError> {
        let folder = try TemporaryFolder()
        try folder.write("one.yaml", AppText.make() + "verifyReceipt: {sharedSecretFile: receipts.secret}\n")
        if let text { try folder.write("receipts.secret", text, mode: mode) }
        let app = try #require(try AppsDirectory.load(folder.path).get().first)
        return try #require(app.receiptSecret).load()
    }

    @Test func `the file's line is the secret, and its textual form is not (S43)`() throws {
        for ending in ["", "\n", "\r\n"] {
            let loaded = try Self.load(Self.secret + ending, mode: 0o400).get()
            #expect(loaded.reveal() == Self.secret && "\(loaded)" == "***")
        }
        let plain = try TemporaryFolder()
        try plain.write("one.yaml", AppText.make())
        #expect(try AppsDirectory.load(plain.path).get().first?.receiptSecret == nil)
    }

    @Test(arguments: [0o440, 0o604, 0o644] as [UInt32])
    func `a secret that others can read is refused (S52)`(mode: UInt32) throws {
        guard case .failure(let error) = try Self.load(Self.secret, mode: mode) else {
            Issue.record("it was read")
            return
        }
        #expect("\(error)".contains("chmod 0400") && !"\(error)".contains(Self.secret))
    }

    @Test(arguments: [nil, "", "short", "with spaces in it, and so no secret", String(repeating: "a", count: 129)])
    func `what is no secret is refused, without showing it`(text: String?) throws {
        guard case .failure(let error) = try Self.load(text) else {
            Issue.record("it was read")
            return
        }
        #expect(error.code == "apps.invalid_key" && "\(error)".contains("one.yaml:"))
        if let text, !text.isEmpty { #expect(!"\(error)".contains(text)) }
    }

    @Test(arguments: ["", "other: x", "sharedSecretFile: a, other: x"])
    func `mistakes in the section are named`(section: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("one.yaml", AppText.make() + "verifyReceipt: {\(section)}\n")
        guard case .failure(let error) = AppsDirectory.load(folder.path) else {
            Issue.record("it was accepted")
            return
        }
        #expect(!error.problems.isEmpty)
    }
}
