import Testing

@testable import Crypto

/// Questions and answers about revocation (RFC 6960): what is believed, and what is not.
@Suite struct OCSPTests {
    @Test(arguments: [
        OCSPAnswer.Status.good, .unknown, .revoked(at: 1_699_000_000, reason: nil),
        .revoked(at: 1_699_000_000, reason: .keyCompromise), .revoked(at: 1, reason: .cessationOfOperation),
    ])
    func `every status is read with its time and reason, from issuer and delegate, named by key and by subject (S14)`(
        status: OCSPAnswer.Status
    ) throws {
        let stage = try OCSPStage()
        for name in [OCSPResponseBuilder.ResponderName.key, .subject] {
            for digest in [OCSPResponseBuilder.Digest.sha1, .sha256] {
                var builder = OCSPStage.answer(status)
                builder.responderName = name
                builder.digest = digest
                for der in [try stage.direct(builder), try stage.delegated(builder)] {
                    let answer = try stage.check(der).get()
                    #expect(answer.status == status)
                    #expect(answer.thisUpdate == OCSPStage.now - 600 && answer.nextUpdate == OCSPStage.now + 3_600)
                }
            }
        }
    }

    @Test func `an answer without an end has none, and is a day old at most (S14)`() throws {
        let stage = try OCSPStage()
        var builder = OCSPStage.answer()
        builder.nextUpdate = nil
        #expect(try stage.check(stage.direct(builder)).get().nextUpdate == nil)
        builder.thisUpdate = OCSPStage.now - 86_401
        #expect(stage.check(try stage.direct(builder)).code == "ocsp.stale")
    }

    /// A forgery and the name of what is wrong with it.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let name: String
        let code: String
        let make: @Sendable (OCSPStage) throws -> [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ code: String, _ make: @escaping @Sendable (OCSPStage) throws -> [UInt8]) {
            self.name = name
            self.code = code
            self.make = make
        }
    }

    static let responders: [Forgery] = [
        Forgery("a delegate without the usage", "ocsp.responder_not_authorized") { stage in
            let other = try OCSPStage.delegate(of: stage.chain) { builder in
                builder.extensions.removeAll { $0.identifier == "2.5.29.37" }
            }
            return try stage.delegated(OCSPStage.answer(), by: other)
        },
        Forgery("a delegate with another usage", "ocsp.responder_not_authorized") { stage in
            let other = try OCSPStage.delegate(of: stage.chain) { builder in
                builder.extensions.removeAll { $0.identifier == "2.5.29.37" }
                // id-kp-serverAuth
                builder.extensions.append(
                    .init(
                        identifier: "2.5.29.37", value: [0x30, 10, 0x06, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1]))
            }
            return try stage.delegated(OCSPStage.answer(), by: other)
        },
        Forgery("a delegate of another authority", "ocsp.responder_not_authorized") { stage in
            let other = try OCSPStage.delegate(of: stage.chain, by: (stage.chain.rootKey, stage.chain.root))
            return try stage.delegated(OCSPStage.answer(), by: other)
        },
        Forgery("a delegate that says it is of this authority", "ocsp.responder_not_authorized") { stage in
            let liar = try P384.PrivateKey.generate()
            let other = try OCSPStage.delegate(of: stage.chain, by: (liar, stage.chain.intermediate))
            return try stage.delegated(OCSPStage.answer(), by: other)
        },
        Forgery("a delegate that has ended", "ocsp.responder_not_authorized") { stage in
            let other = try OCSPStage.delegate(of: stage.chain) { $0.validity.notAfter = OCSPStage.now - 3_600 }
            return try stage.delegated(OCSPStage.answer(), by: other)
        },
        Forgery("a delegate whose key may not sign", "ocsp.responder_not_authorized") { stage in
            let other = try OCSPStage.delegate(of: stage.chain) { builder in
                builder.extensions.removeAll { $0.identifier == "2.5.29.15" }
                builder.extensions.append(.keyUsage([.listSign]))
            }
            return try stage.delegated(OCSPStage.answer(), by: other)
        },
        Forgery("the leaf itself", "ocsp.responder_not_authorized") { stage in
            try stage.delegated(
                OCSPStage.answer(), by: .init(certificate: stage.chain.leaf, key: stage.chain.leafKey))
        },
        Forgery("the delegate's name, another key", "ocsp.signature") { stage in
            var builder = OCSPStage.answer()
            builder.responderName = .subject
            builder.certificates = [stage.delegate.certificate]
            // OpenSSL wants key and certificate to fit: a twin of the same name.
            let twin = try OCSPStage.delegate(of: stage.chain)
            return try builder.signed(
                by: .p256(twin.key), as: twin.certificate, about: stage.chain.leaf, of: stage.chain.intermediate)
        },
        Forgery("a responder whose certificate is not there", "ocsp.responder_unknown") { stage in
            try OCSPStage.answer().signed(
                by: .p256(stage.delegate.key), as: stage.delegate.certificate, about: stage.chain.leaf,
                of: stage.chain.intermediate)
        },
    ]

    static let answers: [Forgery] = [
        Forgery("another serial number", "ocsp.other_certificate") { stage in
            try stage.delegated(OCSPStage.answer(), about: TestChain { $0 == 2 ? ($1.serialNumber = [77]) : () }.leaf)
        },
        Forgery("another issuer", "ocsp.other_certificate") { stage in
            try stage.delegated(OCSPStage.answer(), of: stage.chain.root)
        },
        Forgery("two statements", "ocsp.malformed") { stage in
            var builder = OCSPStage.answer()
            builder.copies = 2
            return try stage.delegated(builder)
        },
        Forgery("an hour too early", "ocsp.not_yet_valid") { stage in
            var builder = OCSPStage.answer()
            builder.thisUpdate = OCSPStage.now + 3_000
            return try stage.delegated(builder)
        },
        Forgery("ended", "ocsp.stale") { stage in
            var builder = OCSPStage.answer()
            builder.thisUpdate = OCSPStage.now - 7_200
            builder.nextUpdate = OCSPStage.now - 3_600
            return try stage.delegated(builder)
        },
        Forgery("ends before it begins", "ocsp.malformed") { stage in
            var builder = OCSPStage.answer()
            builder.nextUpdate = builder.thisUpdate - 1
            return try stage.delegated(builder)
        },
        Forgery("signed over SHA-1", "ocsp.weak_signature") { stage in
            var builder = OCSPStage.answer()
            builder.isWeak = true
            return try stage.delegated(builder)
        },
        Forgery("try later", "ocsp.refused") { _ in try OCSPResponseBuilder.refusal(status: 3) },
        Forgery("a page of HTML", "ocsp.malformed") { _ in Array("<html>Sorry</html>".utf8) },
        Forgery("nothing", "ocsp.malformed") { _ in [] },
        Forgery("one byte more", "ocsp.malformed") { try $0.delegated(OCSPStage.answer()) + [0] },
        Forgery("one byte less", "ocsp.malformed") { Array(try $0.delegated(OCSPStage.answer()).dropLast()) },
        Forgery("a megabyte", "ocsp.too_large") { _ in [UInt8](repeating: 0x30, count: 1 << 20) },
    ]

    @Test(arguments: responders) func `an answer of somebody who may not give it is not believed (S14)`(
        forgery: Forgery
    ) throws {
        let stage = try OCSPStage()
        #expect(stage.check(try forgery.make(stage)).code == forgery.code)
    }

    @Test(arguments: answers) func `an answer that does not fit is not believed, and says why (S14)`(
        forgery: Forgery
    ) throws {
        let stage = try OCSPStage()
        #expect(stage.check(try forgery.make(stage)).code == forgery.code)
    }

    @Test func `no flipped bit makes another answer out of one that is believed (S14)`() throws {
        let stage = try OCSPStage()
        let der = try stage.delegated(OCSPStage.answer(.revoked(at: 1_699_000_000, reason: .superseded)))
        let honest = try stage.check(der).get()
        for index in der.indices {
            var damaged = der
            damaged[index] ^= 1 << UInt8(index % 8)
            let result = stage.check(damaged)
            #expect(result.status == nil || (try? result.get()) == honest, "byte \(index)")
        }
    }

    @Test(arguments: [(59, true), (61, false)] as [(Int64, Bool)])
    func `clocks may differ by a minute at both ends`(seconds: Int64, isFine: Bool) throws {
        let stage = try OCSPStage()
        let der = try stage.direct(OCSPStage.answer())
        #expect((stage.check(der, at: OCSPStage.now - 600 - seconds).code == nil) == isFine)
        #expect((stage.check(der, at: OCSPStage.now + 3_600 + seconds).code == nil) == isFine)
    }

    @Test func `a nonce binds an answer to its question, where the responder gives one back (S14)`() throws {
        let stage = try OCSPStage()
        let question = try OCSPRequest(about: stage.chain.leaf, issuedBy: stage.chain.intermediate, hasNonce: true)
        var builder = OCSPStage.answer()
        #expect(stage.check(try stage.direct(builder), answering: question).code == nil, "it need not")
        builder.request = question
        #expect(stage.check(try stage.direct(builder), answering: question).code == nil)
        builder.request = try OCSPRequest(about: stage.chain.leaf, issuedBy: stage.chain.intermediate, hasNonce: true)
        #expect(stage.check(try stage.direct(builder), answering: question).code == "ocsp.nonce_mismatch")
        builder.request = nil
        builder.nonce = [1, 2, 3]
        #expect(stage.check(try stage.direct(builder), answering: question).code == "ocsp.nonce_mismatch")
    }

    @Test func `a question names its one certificate, and reads back`() throws {
        let chain = try TestChain()
        let plain = try OCSPRequest(about: chain.leaf, issuedBy: chain.intermediate)
        #expect(
            try plain.der == OCSPRequest(about: chain.leaf, issuedBy: chain.intermediate).der, "no nonce, no chance")
        let read = try OCSPRequest(der: plain.der)
        #expect(read.isAbout(chain.leaf, issuedBy: chain.intermediate))
        #expect(!read.isAbout(chain.intermediate, issuedBy: chain.root))
        #expect(throws: OCSPError.self) { try OCSPRequest(der: plain.der + [0]) }
    }

    @Test func `a certificate gives the addresses that stand in it`() throws {
        let address = "http://ocsp.example.com/" + String(repeating: "a", count: 200)
        let chain = try TestChain { storey, builder in
            if storey > 0 { builder.extensions.append(.ocspAddress(storey == 1 ? "http://a.example/" : address)) }
        }
        #expect(chain.intermediate.ocspAddresses == ["http://a.example/"])
        #expect(chain.leaf.ocspAddresses == [address])
        #expect(chain.root.ocspAddresses == [])
    }
}
