import Testing

@testable import Crypto

/// A three-storey authority whose every certificate can be changed before it is signed.
struct TestChain {
    static let now: Int64 = 1_700_000_000
    static let year: Int64 = 365 * 86400

    let rootKey: P384.PrivateKey
    let intermediateKey: P384.PrivateKey
    let leafKey: P256.PrivateKey
    let root: Certificate
    let intermediate: Certificate
    let leaf: Certificate

    init(
        change: (_ storey: Int, inout CertificateBuilder) -> Void = { _, _ in }
    ) throws {
        rootKey = try P384.PrivateKey.generate()
        intermediateKey = try P384.PrivateKey.generate()
        leafKey = try P256.PrivateKey.generate()
        let validity = Certificate.Validity(notBefore: Self.now - Self.year, notAfter: Self.now + Self.year)
        var builder = CertificateBuilder(
            commonName: "Test Root", organization: "Test", serialNumber: [1], validity: validity,
            subjectKey: .p384(try rootKey.publicKey()),
            extensions: [.basicConstraints(isAuthority: true), .keyUsage([.certificateSign, .listSign])])
        change(0, &builder)
        root = try builder.signed(by: .p384(rootKey))
        builder = CertificateBuilder(
            commonName: "Test Intermediate", organization: "Test", serialNumber: [0x80, 2], validity: validity,
            subjectKey: .p384(try intermediateKey.publicKey()),
            extensions: [.basicConstraints(isAuthority: true, pathLength: 0), .keyUsage([.certificateSign])])
        change(1, &builder)
        intermediate = try builder.signed(by: .p384(rootKey), issuer: root)
        builder = CertificateBuilder(
            commonName: "Test Leaf", organization: "Test", serialNumber: [3], validity: validity,
            subjectKey: .p256(try leafKey.publicKey()),
            extensions: [.basicConstraints(isAuthority: false), .keyUsage([.digitalSignature])])
        change(2, &builder)
        leaf = try builder.signed(by: .p384(intermediateKey), issuer: intermediate)
    }

    func verify(at time: Int64 = TestChain.now) throws -> CertificateChain {
        try TrustStore(roots: [root]).verify(leaf: leaf, intermediates: [intermediate], at: time)
    }
}

@Suite struct CertificateTests {
    @Test func `a certificate gives back what was built into it`() throws {
        let chain = try TestChain { storey, builder in
            if storey == 2 { builder.extensions.append(.init(identifier: "1.2.840.113635.100.6.11.1", value: [5, 0])) }
        }
        #expect(chain.intermediate.serialNumber == "8002")
        #expect(chain.intermediate.isCertificateAuthority)
        #expect(chain.intermediate.pathLength == 0)
        #expect(chain.intermediate.keyUsage == [.certificateSign])
        #expect(chain.intermediate.signatureSecurityBits == 192)
        #expect(chain.root.pathLength == nil)
        #expect(chain.leaf.subject == "/CN=Test Leaf/O=Test")
        #expect(chain.leaf.issuer == chain.intermediate.subject)
        #expect(!chain.leaf.isCertificateAuthority)
        #expect(chain.leaf.extensions["1.2.840.113635.100.6.11.1"] == false)
        #expect(chain.leaf.extensions["2.5.29.15"] == true)
        #expect(
            chain.leaf.validity
                == .init(notBefore: TestChain.now - TestChain.year, notAfter: TestChain.now + TestChain.year))
        #expect(try chain.leaf.p256PublicKey().derRepresentation() == chain.leafKey.publicKey().derRepresentation())
        #expect(throws: CryptoError.self) { try chain.root.p256PublicKey() }
    }

    @Test func `times after 2049 and before 1970 are read exactly`() throws {
        let validity = Certificate.Validity(notBefore: -1_000_000_000, notAfter: 4_000_000_000)
        let chain = try TestChain { storey, builder in if storey == 0 { builder.validity = validity } }
        #expect(chain.root.validity == validity)
    }

    @Test func `a certificate is exactly its DER bytes`() throws {
        let chain = try TestChain()
        #expect(try Certificate(der: chain.leaf.der).fingerprint == chain.leaf.fingerprint)
        #expect(throws: CryptoError.self) { try Certificate(der: chain.leaf.der + [0]) }
        #expect(throws: CryptoError.self) { try Certificate(der: Array(chain.leaf.der.dropLast())) }
        #expect(throws: CryptoError.self) { try Certificate(der: []) }
        #expect(throws: CryptoError.self) { try Certificate(der: Array("abc".utf8)) }
        #expect(OpenSSLErrorQueue.drain() == "no reason given")
        let pem = chain.leaf.pemRepresentation + chain.root.pemRepresentation
        #expect(try Certificate.certificates(pem: pem).map(\.der) == [chain.leaf.der, chain.root.der])
    }

    @Test func `an extension that is present twice makes a certificate unreadable`() throws {
        #expect(throws: CryptoError.self) {
            try TestChain { storey, builder in
                if storey == 2 { builder.extensions.append(.basicConstraints(isAuthority: true)) }
            }
        }
    }
}

@Suite struct TrustStoreTests {
    @Test func `a good chain is built to the trusted root with the time in which it is valid`() throws {
        let chain = try TestChain { storey, builder in
            if storey == 1 { builder.validity.notAfter = TestChain.now + 1000 }
            if storey == 2 { builder.validity.notBefore = TestChain.now - 1000 }
        }
        let verified = try chain.verify()
        #expect(verified.certificates.map(\.der) == [chain.leaf, chain.intermediate, chain.root].map(\.der))
        #expect(verified.validity == .init(notBefore: TestChain.now - 1000, notAfter: TestChain.now + 1000))
    }

    @Test func `a foreign authority with the same names is not trusted (S02)`() throws {
        let ours = try TestChain()
        let foreign = try TestChain()
        let store = try TrustStore(roots: [ours.root])
        #expect(throws: ChainFailure.self) {
            try store.verify(leaf: foreign.leaf, intermediates: [foreign.intermediate], at: TestChain.now)
        }
        #expect(throws: ChainFailure.self) {
            try store.verify(
                leaf: foreign.leaf, intermediates: [foreign.intermediate, foreign.root], at: TestChain.now)
        }
        #expect(throws: ChainFailure.self) {
            try store.verify(leaf: ours.leaf, intermediates: [foreign.intermediate], at: TestChain.now)
        }
        #expect(throws: ChainFailure.self) { try store.verify(leaf: ours.leaf, intermediates: [], at: TestChain.now) }
        #expect(OpenSSLErrorQueue.drain() == "no reason given")
    }

    @Test(arguments: [0, 1, 2], [-61, -60, 60, 61])
    func `every certificate must be valid, with a minute of tolerance (S05)`(storey: Int, distance: Int64) throws {
        // A negative distance asks before notBefore, a positive one after notAfter.
        let chain = try TestChain { built, builder in
            guard built == storey else { return }
            if distance < 0 { builder.validity.notBefore = TestChain.now - distance }
            if distance > 0 { builder.validity.notAfter = TestChain.now - distance }
        }
        if abs(distance) > 60 {
            let error = try #require(throws: ChainFailure.self) { try chain.verify() }
            guard case .time = error else {
                Issue.record("not judged by time: \(error)")
                return
            }
        } else {
            #expect(try chain.verify().certificates.count == 3)
        }
    }

    static let defects: [(String, Int, @Sendable (inout CertificateBuilder) -> Void)] = [
        ("intermediate is no authority", 1, { $0.extensions[0] = .basicConstraints(isAuthority: false) }),
        ("intermediate without basic constraints", 1, { $0.extensions.remove(at: 0) }),
        ("intermediate may not sign certificates", 1, { $0.extensions[1] = .keyUsage([.digitalSignature]) }),
        ("leaf is an authority", 2, { $0.extensions[0] = .basicConstraints(isAuthority: true) }),
        ("leaf may not sign data", 2, { $0.extensions[1] = .keyUsage([.listSign]) }),
        (
            "leaf has a critical extension nobody knows", 2,
            { $0.extensions.append(.init(identifier: "1.2.3.4", isCritical: true, value: [5, 0])) }
        ),
        ("root may not sign certificates", 0, { $0.extensions[1] = .keyUsage([.digitalSignature]) }),
    ]

    @Test(arguments: defects.indices)
    func `each single defect of a chain is refused (S04)`(index: Int) throws {
        let (name, storey, change) = Self.defects[index]
        let chain = try TestChain { built, builder in if built == storey { change(&builder) } }
        #expect(throws: ChainFailure.self, "\(name)") { try chain.verify() }
        #expect(OpenSSLErrorQueue.drain() == "no reason given")
    }

    @Test func `an authority's limit on the length of the path is kept (S04)`() throws {
        let chain = try TestChain()
        let key = try P384.PrivateKey.generate()
        let below = try CertificateBuilder(
            commonName: "Below", organization: "Test", serialNumber: [9], validity: chain.leaf.validity,
            subjectKey: .p384(try key.publicKey()),
            extensions: [.basicConstraints(isAuthority: true), .keyUsage([.certificateSign])]
        ).signed(by: .p384(chain.intermediateKey), issuer: chain.intermediate)
        let leaf = try CertificateBuilder(
            commonName: "Deep Leaf", organization: "Test", serialNumber: [10], validity: chain.leaf.validity,
            subjectKey: .p256(try chain.leafKey.publicKey())
        ).signed(by: .p384(key), issuer: below)
        let error = #expect(throws: ChainFailure.self) {
            try TrustStore(roots: [chain.root]).verify(
                leaf: leaf, intermediates: [below, chain.intermediate], at: TestChain.now)
        }
        guard case .constraint = error else {
            Issue.record("not refused for its length")
            return
        }
    }

    @Test func `a store without roots cannot be made`() {
        #expect(throws: CryptoError.self) { try TrustStore(roots: []) }
    }
}
