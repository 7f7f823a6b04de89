import AppStore
import Crypto
import FoundationEssentials
import Testing

@testable import AppStoreSimulation

@Suite struct SimulatedAuthorityTests {
    static let now: Int64 = 1_796_083_200_000

    /// A new folder that is removed afterwards.
    static func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.path)
    }

    @Test func `it has Apple's shape: P-384, P-384, P-256, both marks`() throws {
        let authority = try SimulatedAuthority.generate()
        #expect(authority.root.signatureSecurityBits == 192)
        #expect(authority.leaf.signatureSecurityBits == 192)
        #expect(throws: CryptoError.self) { try authority.intermediate.p256PublicKey() }
        #expect(throws: Never.self) { try authority.leaf.p256PublicKey() }
        #expect(authority.intermediate.pathLength == 0)
        let chains = try ChainVerifier(roots: [authority.root])
        let chain = try chains.verify(leaf: authority.leaf, intermediate: authority.intermediate, at: Self.now / 1000)
        #expect(chain.certificates.count == 3)
    }

    @Test func `it is the same every time after it was saved, and its key is for its owner only`() throws {
        try Self.inFolder { folder in
            let first = try SimulatedAuthority.loadOrGenerate(in: folder)
            let second = try SimulatedAuthority.loadOrGenerate(in: folder)
            #expect(first.x5c == second.x5c)
            let jws = try TransactionSigner(second).sign(
                SimulatedTransaction(
                    transactionID: "1", bundleID: "com.example", productID: "p", purchaseDate: Self.now))
            var verifier = try SignedDataVerifier(
                apps: [AcceptedApp(id: "a", bundleIDs: ["com.example"])], roots: [first.root])
            #expect(throws: Never.self) { try verifier.verifyTransaction(jws, now: Self.now) }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/leaf-key.pem")
            #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o077 == 0)
        }
    }

    @Test func `a folder that is missing or holds something else is an error with its path`() throws {
        #expect(throws: AuthorityFileError.self) { try SimulatedAuthority.load(from: "/nowhere/at/all") }
        try Self.inFolder { folder in
            try SimulatedAuthority.generate().save(in: folder)
            try Data("no certificates".utf8).write(to: URL(fileURLWithPath: "\(folder)/authority.pem"))
            #expect(throws: AuthorityFileError.self) { try SimulatedAuthority.loadOrGenerate(in: folder) }
        }
    }
}
