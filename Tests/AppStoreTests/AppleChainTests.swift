import Crypto
import JOSE
import Testing

@testable import AppStore

/// Certificate chains of Apple's unit tests, and the genuine one, through the production check.
@Suite struct AppleChainTests {
    /// The time Apple's tests judge at: 2025-11-01T02:09:35Z.
    static let time: Int64 = 1_761_962_975

    static func verdict(
        _ leaf: String, _ intermediate: String, root: String, at time: Int64 = time
    ) throws -> VerificationFailure.Reason? {
        let chains = try ChainVerifier(roots: [Fixture.constant(root)])
        let x5c = try [leaf, intermediate, root].map { Base64.encode(try Fixture.constant($0).der) }
        do throws(VerificationFailure) {
            let (first, second) = try chains.certificates(x5c: x5c)
            _ = try chains.verify(leaf: first, intermediate: second, at: time)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `the three roots are the pinned ones and the ones Apple publishes`() throws {
        let roots = try AppleRoots.certificates()
        let files = ["AppleRootCA-G3.cer", "AppleRootCA-G2.cer", "AppleIncRootCertificate.cer"]
        #expect(try roots.map(\.der) == files.map { try Fixture.bytes("apple-roots/\($0)") })
        #expect(AppleRoots.pinned.map { Hex.encode(SHA256.hash($0.der)) } == AppleRoots.pinned.map(\.sha256))
        #expect(roots.allSatisfy { $0.isCertificateAuthority })
    }

    @Test func `the genuine signing certificate is good under the built-in roots`() throws {
        let chains = try ChainVerifier(roots: AppleRoots.certificates())
        let leaf = try Fixture.constant("REAL_APPLE_SIGNING_CERTIFICATE")
        let intermediate = try Fixture.constant("REAL_APPLE_INTERMEDIATE")
        let chain = try chains.verify(leaf: leaf, intermediate: intermediate, at: Self.time)
        #expect(chain.certificates.count == 3)
        #expect(Hex.encode(chain.certificates[2].fingerprint).hasPrefix("63343abf"))
        #expect(leaf.serialNumber == "47c287cdd9f9e7867f528ada74dc7db7")
        // The leaf is the shortest of the three: 2025-09-19T19:44:51Z to 2027-10-13T17:47:23Z.
        #expect(chain.validity == leaf.validity)
        #expect(throws: Never.self) { try chains.key(of: leaf) }
        let error = #expect(throws: VerificationFailure.self) {
            try chains.verify(leaf: leaf, intermediate: intermediate, at: leaf.validity.notAfter + 61)
        }
        #expect(error?.reason == .chainTime)
        #expect(error?.detail.contains("2027-10-13T17:47:23Z") == true)
    }

    @Test func `a good chain gives the leaf's key`() throws {
        #expect(try Self.verdict("LEAF_CERT", "INTERMEDIATE_CA", root: "ROOT_CA") == nil)
        let key = try Fixture.constant("LEAF_CERT").p256PublicKey().derRepresentation()
        #expect(try key == Fixture.bytes("apple/unit-test-constants/LEAF_CERT_PUBLIC_KEY.der"))
    }

    @Test func `chains with a wrong mark, a wrong root or a wrong time are refused`() throws {
        let wrongIntermediate = try Self.verdict(
            "LEAF_CERT_FOR_INTERMEDIATE_CA_INVALID_OID", "INTERMEDIATE_CA_INVALID_OID", root: "ROOT_CA")
        #expect(wrongIntermediate == .chainOID)
        #expect(try Self.verdict("LEAF_CERT_INVALID_OID", "INTERMEDIATE_CA", root: "ROOT_CA") == .chainOID)
        let expired = try Self.verdict("LEAF_CERT", "INTERMEDIATE_CA", root: "ROOT_CA", at: 2_280_946_846)
        #expect(expired == .chainTime)
        #expect(try Self.verdict("LEAF_CERT", "INTERMEDIATE_CA", root: "REAL_APPLE_ROOT") == .chainUntrusted)
        #expect(
            try Self.verdict("REAL_APPLE_SIGNING_CERTIFICATE", "INTERMEDIATE_CA", root: "ROOT_CA") == .chainUntrusted)
    }

    @Test func `x5c that is no list of three certificates is refused by its form`() throws {
        let chains = try ChainVerifier(roots: [Fixture.constant("ROOT_CA")])
        let good = try ["LEAF_CERT", "INTERMEDIATE_CA", "ROOT_CA"].map { Base64.encode(try Fixture.constant($0).der) }
        let invalid = try Fixture.text("apple/unit-test-constants/x5c-invalid-base64.txt")
        let noDER = try Fixture.text("apple/unit-test-constants/x5c-base64-of-non-der.txt")
        let cases: [([String], VerificationFailure.Reason)] = [
            ([], .chainLength), (Array(good.prefix(2)), .chainLength), (good + [good[2]], .chainLength),
            ([invalid, good[1], good[2]], .certificate), ([noDER, good[1], good[2]], .certificate),
            ([good[0], noDER, good[2]], .certificate), ([good[0], good[1], invalid], .certificate),
            ([good[0], good[1], ""], .certificate),
            ([String(repeating: "A", count: 5500), good[1], good[2]], .tooLarge),
        ]
        for (x5c, reason) in cases {
            let error = #expect(throws: VerificationFailure.self) { try chains.certificates(x5c: x5c) }
            #expect(error?.reason == reason)
        }
    }

    @Test func `a verifier without roots cannot be made`() {
        #expect(throws: CryptoError.self) { try SignedDataVerifier(apps: [], roots: []) }
    }
}
