import Crypto
import JOSE
import JSON

/// Login tokens, HS256 and ES256. What is accepted was signed here, with the algorithm of its key.
struct TokenTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        ".", "..", "=", "e30", "eyJhbGciOiJub25lIn0", "\"alg\":\"none\"", "\"alg\":\"HS256\"", "\"alg\":\"ES256\"",
        "\"kid\":\"b\"", "\"kid\":null", "\"exp\":9223372036854775807", "\"exp\":-1", "\"nbf\":0", "\"aud\":[]",
        "\"iss\":1",
        "\"crit\":[]", "\"sub\":\"\"", "\"jwk\":{}",
    ]
    let longest = 16 << 10
    private let verifier: JWTVerifier
    private let signer: JWTSigner
    private let disguised: [UInt8]
    private var signed: Set<[UInt8]> = []
    private var signedLast: [UInt8] = []
    private static let now: Int64 = 1_796_083_200

    init(_ files: FuzzFiles) throws {
        let secret = Array("not a secret, thirty-two bytes or more".utf8)
        let key = try P256.PrivateKey.generate()
        verifier = JWTVerifier(
            keys: [try .hs256(id: "a", secret: secret), .es256(id: "b", try key.publicKey())], issuer: "login",
            audience: "game")
        signer = try .hs256(id: "a", secret: secret)
        let claims: JSONObject = [
            "iss": "login", "aud": ["game", "other"], "sub": "anna", "exp": .integer(Self.now + 600),
            "nbf": .integer(Self.now - 600), "iat": .integer(Self.now - 600),
        ]
        let imitation = Array(try signer.sign(claims, header: ["alg": "ES256", "kid": "b"]).utf8)
        disguised = Self.covered(imitation)
        seeds =
            [try signer.sign(claims), try JWTSigner.es256(id: "b", key).sign(claims)].map { Array($0.utf8) } + [
                imitation
            ]
            + files.corpus("token")
        signed = Set(seeds.map(Self.covered))
    }

    private static func covered(_ token: [UInt8]) -> [UInt8] {
        (try? CompactJWS(token)).map { Array($0.signingInput) } ?? []
    }

    mutating func make(from seed: [UInt8], by mutator: inout Mutator) -> [UInt8] {
        guard mutator.chance(2), let parts = try? CompactJWS(seed), let payload = try? parts.decodePayload(),
            let value = try? JSONReader.parse(payload)
        else { return mutator.damage(seed, words) }
        var damage = JSONDamage(mutator: mutator)
        let changed = damage.change(value)
        mutator = damage.mutator
        guard case .object(let claims) = changed, let token = try? signer.sign(claims) else {
            return mutator.damage(seed, words)
        }
        signedLast = Self.covered(Array(token.utf8))
        return Array(token.utf8)
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let claims = try? verifier.verify(input, now: Self.now) else { return false }
        let covered = Self.covered(input)
        // One seed is signed with a secret under the name of a public key: it must never be accepted.
        let isKnown = covered == signedLast || (signed.contains(covered) && covered != disguised)
        try Violation.unless(isKnown, "accepted, but never signed")
        try Violation.unless(
            claims.issuer == "login" && claims.audience.contains("game"), "another's token was accepted")
        try Violation.unless(claims.expiresAt > Self.now - 60, "an expired token was accepted")
        return true
    }
}
