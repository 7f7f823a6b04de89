import AppStoreSimulation
import Crypto

/// Answers about revocation, and questions.
///
/// A damaged answer may only be believed if it still says the same.
struct RevocationTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "\u{30}\u{01}", "\u{0A}\u{01}\u{00}", "\u{0A}\u{01}\u{03}", "\u{05}\u{00}", "\u{18}\u{0F}20261130000000Z",
        "\u{06}\u{09}", "\u{0}\u{0}\u{0}\u{0}",
    ]
    private let authority: SimulatedAuthority
    /// Within the validity of the simulated certificates.
    private static let time: Int64 = 1_796_083_200

    init(_ files: FuzzFiles) throws {
        authority = try SimulatedAuthority.generate(ocspAddress: "http://ocsp.example/")
        let responder = try SimulatedResponder(authority)
        let question = try OCSPRequest(about: authority.leaf, issuedBy: authority.intermediate, hasNonce: true)
        var seeds = [question.der] + files.corpus("revocation")
        for mode in SimulatedResponder.Mode.allCases {
            responder.set(.init(mode, revokedAt: Self.time - 60, reason: 1, milliseconds: 0))
            if case .answer(let bytes, _) = responder.answer(question.der, now: Self.time) { seeds.append(bytes) }
        }
        seeds.append(try OCSPResponseBuilder.refusal(status: 6))
        self.seeds = seeds
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        let question = try? OCSPRequest(der: input)
        if let question {
            try Violation.unless(question.der == input, "a question is kept as other bytes than it was given as")
            _ = question.isAbout(authority.leaf, issuedBy: authority.intermediate)
        }
        let answer = try? OCSPResponse.check(
            input, about: authority.leaf, issuedBy: authority.intermediate, at: Self.time)
        guard let answer else { return question != nil }
        // What the honest responder says of this leaf in one of its modes, and nothing else.
        let isSaid: Bool =
            switch answer.status {
            case .good, .unknown: true
            case .revoked(let at, let reason): at == Self.time - 60 && reason == .keyCompromise
            }
        try Violation.unless(
            isSaid && answer.thisUpdate == Self.time
                && answer.nextUpdate == Self.time + SimulatedResponder.Behaviour.usualLifetime,
            "an answer that nobody gave was believed")
        return true
    }
}
