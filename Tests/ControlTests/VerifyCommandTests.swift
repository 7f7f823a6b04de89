import AppStore
import AppStoreSimulation
import Crypto
import FoundationEssentials
import JSON
import Testing

@testable import Control

@Suite struct VerifyCommandTests {
    static func fixture(_ path: String, file: String = #filePath) -> String {
        URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures").appendingPathComponent(path).path
    }

    static func run(_ arguments: [String]) -> (status: Int32, text: String) {
        var lines: [String] = []
        let status = VerifyCommand.run(arguments: arguments) { lines.append($0) }
        return (status, lines.joined(separator: "\n"))
    }

    /// Runs the command on a file with these bytes.
    static func run(_ bytes: [UInt8], _ arguments: [String]) throws -> (status: Int32, text: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("signed-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return run(arguments + [file.path])
    }

    static let root = ["--root", fixture("apple/certs/testCA.der")]

    /// File, further arguments, status, words that must be said.
    static let table: [(String, [String], Int32, [String])] = [
        ("mock_signed_data/transactionInfo", ["--bundle", "com.example"], 0, ["kind: transaction", "valid:"]),
        ("mock_signed_data/transactionInfo", [], 0, ["not asked", "no --bundle was given"]),
        ("mock_signed_data/transactionInfo", ["--bundle", "com.example.x"], 1, ["app_mismatch", "another app"]),
        (
            "mock_signed_data/transactionInfo", ["--bundle", "com.example", "--environment", "Production"], 1,
            ["environment_mismatch", "not reached"]
        ),
        ("mock_signed_data/transactionInfo", ["--environment", "sandbox"], 0, ["environment: Sandbox"]),
        ("mock_signed_data/transactionInfo", ["--environment", "Xcode"], 1, ["never accepted"]),
        (
            "mock_signed_data/testNotification", ["--bundle", "com.example", "--app-apple-id", "1234"], 0,
            ["kind: notification", "type: TEST"]
        ),
        ("mock_signed_data/renewalInfo", ["--bundle", "com.example"], 0, ["kind: renewal info", "names no app"]),
        (
            "mock_signed_data/wrongBundleId", ["--bundle", "com.example", "--at", "2026-11-30T00:00:00Z"], 1,
            ["app_mismatch"]
        ),
        ("mock_signed_data/missingX5CHeaderClaim", [], 1, ["chain_length", "claims to be: notification"]),
        ("mock_signed_data/legacyTransaction", [], 1, ["old transaction receipt"]),
        ("xcode/xcode-app-receipt-empty", [], 1, ["PKCS#7 app receipt"]),
        ("xcode/xcode-app-receipt-with-transaction", [], 1, ["PKCS#7 app receipt"]),
        ("xcode/xcode-signed-transaction", [], 1, ["chain_length", "Xcode", "never accepted"]),
        ("xcode/xcode-signed-app-transaction", [], 1, ["claims to be: app transaction", "never accepted"]),
        ("models/signedTransaction.json", [], 1, ["JSON document that nobody signed"]),
        ("unit-test-constants/malformed-jwt-too-many-parts.txt", [], 1, ["4 segments"]),
    ]

    @Test(arguments: table.indices)
    func `it says what the data is, what each check found, and the verdict`(index: Int) {
        let (file, arguments, status, words) = Self.table[index]
        let result = Self.run(Self.root + arguments + [Self.fixture("apple/\(file)")])
        #expect(result.status == status, "\(result.text)")
        for word in words { #expect(result.text.contains(word), "\(word) is missing in:\n\(result.text)") }
    }

    @Test func `under Apple's roots the test data is not trusted`() {
        let result = Self.run([Self.fixture("apple/mock_signed_data/transactionInfo")])
        #expect(result.status == 1)
        #expect(result.text.contains("chain_untrusted"))
        #expect(result.text.contains("passed      signature"))
    }

    @Test func `a root may be given as PEM, and a line feed at the end of the file does no harm`() throws {
        let jws = try Array(
            Data(contentsOf: URL(fileURLWithPath: Self.fixture("apple/mock_signed_data/transactionInfo"))))
        let result = try Self.run([32] + jws + [13, 10], ["--root", Self.fixture("apple/certs/testCA.pem")])
        #expect(result.status == 0, "\(result.text)")
    }

    @Test(arguments: [
        [], ["--bundle"], ["--nonsense", "x"], ["/nowhere/at/all"], ["a", "b"], ["--at", "yesterday", "x"],
        ["--environment", "Mars", "x"], ["--app-apple-id", "abc", "x"], ["--root", "/nowhere", "x"],
        ["--root", fixture("MANIFEST.tsv"), "x"],
    ])
    func `wrong usage and unreadable files are neither valid nor invalid`(arguments: [String]) {
        let result = Self.run(arguments)
        #expect(result.status == 2)
        #expect(result.text.hasPrefix("purser verify:"))
    }

    @Test func `help is no error`() {
        let result = Self.run(["--help"])
        #expect(result.status == 0)
        #expect(result.text.contains("--app-apple-id"))
    }

    @Test func `files over 64 KiB are refused unread`() throws {
        let result = try Self.run([UInt8](repeating: UInt8(ascii: "A"), count: 70_000), Self.root)
        #expect(result.status == 1)
        #expect(result.text.contains("too_large"))
    }

    @Test func `signed data inside a notification is checked, and signed text cannot command the terminal`() throws {
        let authority = try SimulatedAuthority.generate()
        let signer = TransactionSigner(authority)
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("root-\(UUID().uuidString).pem")
        try Data(authority.root.pemRepresentation.utf8).write(to: root)
        defer { try? FileManager.default.removeItem(at: root) }
        var transaction = SimulatedTransaction(
            transactionID: "1", bundleID: "com.example", productID: "\u{1b}[2Jcoins", purchaseDate: 1_796_083_200_000)
        var notification = SimulatedNotification(
            type: "REFUND", uuid: "002e14d5-51f5-4503-b5a8-c3a1af68eb20", bundleID: "com.example",
            signedDate: 1_796_083_200_000)
        let at = ["--root", root.path, "--at", "1796083200"]
        notification.signedTransactionInfo = String(decoding: try signer.sign(transaction), as: UTF8.self)
        #expect(try Self.run(signer.sign(notification), at).status == 0)
        let single = try Self.run(signer.sign(transaction), at)
        #expect(single.status == 0)
        #expect(single.text.contains("?[2Jcoins") && !single.text.contains("\u{1b}"))
        transaction.environment = "Sandbox"
        notification.signedTransactionInfo = String(decoding: try signer.sign(transaction), as: UTF8.self)
        let mixed = try Self.run(signer.sign(notification), at)
        #expect(mixed.status == 1)
        #expect(mixed.text.contains("environment_mismatch"))
    }

    @Test func `a transaction without bundle id is valid only where no bundle id is asked for`() throws {
        let authority = try SimulatedAuthority.generate()
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("root-\(UUID().uuidString).der")
        try Data(authority.root.der).write(to: root)
        defer { try? FileManager.default.removeItem(at: root) }
        let jws = try TransactionSigner(authority).sign(
            SimulatedTransaction(transactionID: "1", bundleID: nil, productID: "p", purchaseDate: 1_796_083_200_000))
        let at = ["--root", root.path, "--at", "1796083200"]
        #expect(try Self.run(jws, at).status == 0)
        let asked = try Self.run(jws, at + ["--bundle", "com.example"])
        #expect(asked.status == 1)
        #expect(asked.text.contains("app_unidentified"))
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", Int64(0)), ("2025-11-01T02:09:35Z", 1_761_962_975),
        ("2000-02-29T00:00:00Z", 951_782_400),
        ("1761962975", 1_761_962_975), ("2025-13-01T00:00:00Z", nil), ("2025-11-01", nil), ("now", nil),
        ("2025-11-01T02:09:35+01:00", nil),
    ])
    func `times are read in one form only`(text: String, seconds: Int64?) {
        #expect(TimeText.seconds(text) == seconds)
    }

    @Test func `purser without a command says how it is used`() async {
        var lines: [String] = []
        #expect(await ControlMain.run([], environment: [:]) { lines.append($0) } == 2)
        #expect(await ControlMain.run(["verify", "--help"], environment: [:]) { lines.append($0) } == 0)
        #expect(lines.first?.contains("usage") == true)
    }
}
