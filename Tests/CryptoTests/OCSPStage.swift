@testable import Crypto

/// A chain, responders for it, and answers of every kind.
struct OCSPStage {
    static let now = TestChain.now
    let chain: TestChain
    let delegate: Responder

    /// Somebody who signs answers.
    struct Responder {
        let certificate: Certificate
        let key: P256.PrivateKey
    }

    init() throws {
        chain = try TestChain()
        delegate = try Self.delegate(of: chain)
    }

    /// A responder certified by the intermediate, or as `change` makes it, or by another issuer.
    static func delegate(
        of chain: TestChain, by issuer: (P384.PrivateKey, Certificate)? = nil,
        _ change: (inout CertificateBuilder) -> Void = { _ in }
    ) throws -> Responder {
        let key = try P256.PrivateKey.generate()
        var builder = CertificateBuilder(
            commonName: "Test Responder", organization: "Test", serialNumber: [9],
            validity: .init(notBefore: now - TestChain.year, notAfter: now + TestChain.year),
            subjectKey: .p256(try key.publicKey()),
            extensions: [.basicConstraints(isAuthority: false), .keyUsage([.digitalSignature]), .ocspSigning])
        change(&builder)
        let (issuerKey, certificate) = issuer ?? (chain.intermediateKey, chain.intermediate)
        return Responder(certificate: try builder.signed(by: .p384(issuerKey), issuer: certificate), key: key)
    }

    /// An answer that is good today.
    static func answer(_ status: OCSPAnswer.Status = .good) -> OCSPResponseBuilder {
        OCSPResponseBuilder(status: status, thisUpdate: now - 600, nextUpdate: now + 3_600)
    }

    /// Signed by the delegate, which travels with it.
    func delegated(
        _ builder: OCSPResponseBuilder, by responder: Responder? = nil, about certificate: Certificate? = nil,
        of issuer: Certificate? = nil
    ) throws -> [UInt8] {
        let responder = responder ?? delegate
        var builder = builder
        builder.certificates.append(responder.certificate)
        return try builder.signed(
            by: .p256(responder.key), as: responder.certificate, about: certificate ?? chain.leaf,
            of: issuer ?? chain.intermediate)
    }

    /// Signed by the issuer itself.
    func direct(_ builder: OCSPResponseBuilder) throws -> [UInt8] {
        try builder.signed(
            by: .p384(chain.intermediateKey), as: chain.intermediate, about: chain.leaf, of: chain.intermediate)
    }

    /// What is made of an answer.
    func check(
        _ der: [UInt8], answering request: OCSPRequest? = nil, at time: Int64 = now
    ) -> Result<OCSPAnswer, OCSPError> {
        do throws(OCSPError) {
            return .success(
                try OCSPResponse.check(
                    der, about: chain.leaf, issuedBy: chain.intermediate, answering: request, at: time))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == OCSPAnswer, Failure == OCSPError {
    /// The stable name of what is wrong; nil if nothing is.
    var code: String? { if case .failure(let error) = self { error.code } else { nil } }
    /// What is said.
    var status: OCSPAnswer.Status? { (try? get())?.status }
}
