import Crypto
import JSON
import Testing

@testable import JOSE

@Suite struct JWTTests {
    static let now: Int64 = 1_700_000_000
    static let secret = [UInt8](repeating: 0x5a, count: 32)
    static let claims: JSONObject = [
        "iss": "https://issuer.example", "aud": "purser", "sub": "user-1", "exp": 1_700_000_600, "iat": 1_700_000_000,
    ]

    static func verifier(_ keys: [JWTKey], leeway: Int64 = 30) -> JWTVerifier {
        JWTVerifier(keys: keys, issuer: "https://issuer.example", audience: "purser", leeway: leeway)
    }

    static func changed(_ change: (inout JSONObject) -> Void) -> JSONObject {
        var changed = claims
        change(&changed)
        return changed
    }

    /// `claims` without one member.
    static func without(_ name: String) -> JSONObject { JSONObject(claims.members.filter { $0.key != name }) }

    @Test func `a good HS256 and a good ES256 token give their claims`() throws {
        let key = try P256.PrivateKey.generate()
        let verifier = Self.verifier([
            try .hs256(id: "shared", secret: Self.secret), .es256(id: "pair", try key.publicKey()),
        ])
        for signer in [try JWTSigner.hs256(id: "shared", secret: Self.secret), JWTSigner.es256(id: "pair", key)] {
            let claims = try verifier.verify(signer.sign(Self.claims), now: Self.now)
            #expect(claims.subject == "user-1")
            #expect(claims.audience == ["purser"])
            #expect(claims.expiresAt == 1_700_000_600)
            #expect(claims.issuedAt == Self.now)
        }
    }

    @Test func `the token of RFC 7515 A.1 verifies`() throws {
        let secret = try #require(
            Base64URL.decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
        let signed =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
            + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
            + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let jws = try CompactJWS(Array(signed.utf8))
        #expect(try JWTKey.hs256(secret: secret).isValidSignature(jws.decodeSignature(), for: jws.signingInput))
    }

    @Test func `a secret shorter than its hash is refused when it is configured (S32)`() {
        #expect(throws: JWTError.weakKey) { try JWTKey.hs256(secret: [UInt8](repeating: 1, count: 31)) }
        #expect(throws: JWTError.weakKey) { try JWTSigner.hs256(secret: []) }
    }

    @Test(arguments: ["none", "None", "HS256", "RS256", "ES384", "es256", "EdDSA", ""])
    func `the algorithm belongs to the key, not to the token (S30)`(algorithm: String) throws {
        let key = try P256.PrivateKey.generate()
        let publicKey = try key.publicKey()
        let verifier = Self.verifier([.es256(publicKey)])
        let header: JSONObject = ["alg": .string(algorithm)]
        // The classic: the public key, which everybody has, used as a shared secret.
        let confused = try JWTSigner.hs256(secret: publicKey.derRepresentation()).sign(Self.claims, header: header)
        #expect(throws: JWTError.algorithm) { try verifier.verify(confused, now: Self.now) }
        let signed = try JWTSigner.es256(key).sign(Self.claims, header: header)
        #expect(throws: JWTError.algorithm) { try verifier.verify(signed, now: Self.now) }
    }

    @Test func `an unsigned token is no token (S30)`() throws {
        let header = Base64URL.string(Array(#"{"alg":"none"}"#.utf8))
        let payload = Base64URL.string(JSONWriter.write(Self.claims))
        let verifier = Self.verifier([try .hs256(secret: Self.secret)])
        #expect(throws: JWTError.format(.emptySegment(.signature))) {
            try verifier.verify("\(header).\(payload).", now: Self.now)
        }
        #expect(throws: JWTError.algorithm) { try verifier.verify("\(header).\(payload).AA", now: Self.now) }
    }

    @Test(arguments: ["other", "../../shared", "shared'; DROP TABLE keys", "shared\r\n", "Shared", ""])
    func `a kid is compared with configured ids and nothing else (S07)`(kid: String) throws {
        let verifier = Self.verifier([try .hs256(id: "shared", secret: Self.secret)])
        let token = try JWTSigner.hs256(id: kid, secret: Self.secret).sign(Self.claims)
        #expect(throws: JWTError.unknownKey) { try verifier.verify(token, now: Self.now) }
    }

    @Test func `the right key is found among several, also without a kid`() throws {
        let other = [UInt8](repeating: 1, count: 32)
        let verifier = Self.verifier([
            try .hs256(id: "old", secret: other), try .hs256(id: "new", secret: Self.secret),
        ])
        #expect(throws: Never.self) {
            try verifier.verify(JWTSigner.hs256(secret: Self.secret).sign(Self.claims), now: Self.now)
        }
        #expect(throws: JWTError.signature) {
            try verifier.verify(JWTSigner.hs256(id: "old", secret: Self.secret).sign(Self.claims), now: Self.now)
        }
        #expect(throws: JWTError.unknownKey) {
            try verifier.verify(
                JWTSigner.hs256(secret: Self.secret).sign(Self.claims, header: ["alg": "HS256", "kid": 1]),
                now: Self.now)
        }
    }

    static let headers: [(JSONObject, JWTError)] = [
        (["alg": "HS256", "crit": ["exp"]], .format(.criticalExtension)),
        (["alg": "HS256", "b64": false], .format(.criticalExtension)),
        (["alg": "HS256", "typ": "secevent+jwt"], .type), (["alg": "HS256", "typ": 1], .type),
        (["typ": "JWT"], .format(.missingAlgorithm)), (["alg": ["HS256"]], .format(.missingAlgorithm)),
    ]

    @Test(arguments: headers.indices)
    func `headers with critical extensions or of another type are refused (S07, S30)`(index: Int) throws {
        let (header, error) = Self.headers[index]
        let token = try JWTSigner.hs256(secret: Self.secret).sign(Self.claims, header: header)
        #expect(throws: error) { try Self.verifier([try .hs256(secret: Self.secret)]).verify(token, now: Self.now) }
    }

    @Test func `keys and addresses inside a header are ignored (S07)`() throws {
        let header: JSONObject = [
            "alg": "HS256", "jku": "http://169.254.169.254/", "jwk": ["kty": "oct", "k": "AA"], "x5u": "file:///etc",
        ]
        let token = try JWTSigner.hs256(secret: Self.secret).sign(Self.claims, header: header)
        #expect(throws: Never.self) {
            try Self.verifier([try .hs256(secret: Self.secret)]).verify(token, now: Self.now)
        }
        let forged = try JWTSigner.hs256(secret: [UInt8](repeating: 0, count: 32)).sign(Self.claims, header: header)
        #expect(throws: JWTError.signature) {
            try Self.verifier([try .hs256(secret: Self.secret)]).verify(forged, now: Self.now)
        }
    }

    /// Name, claims, expected error (nil: accepted). Leeway 30 s, now 1,700,000,000.
    static let tables: [(String, JSONObject, JWTError?)] = [
        ("exp missing", without("exp"), .claim("exp")),
        ("exp as text", changed { $0.set("exp", "1700000600") }, .claim("exp")),
        ("exp null", changed { $0.set("exp", nil) }, .claim("exp")),
        ("exp now", changed { $0.set("exp", 1_700_000_000) }, nil),
        ("exp 29 s ago", changed { $0.set("exp", 1_699_999_971) }, nil),
        ("exp 30 s ago", changed { $0.set("exp", 1_699_999_970) }, .expired),
        ("exp negative", changed { $0.set("exp", -1) }, .expired),
        ("exp at the end of time", changed { $0.set("exp", .integer(.max)) }, nil),
        ("nbf in 30 s", changed { $0.set("nbf", 1_700_000_030) }, nil),
        ("nbf in 31 s", changed { $0.set("nbf", 1_700_000_031) }, .notYetValid),
        ("nbf as list", changed { $0.set("nbf", []) }, .claim("nbf")),
        ("iat in 31 s", changed { $0.set("iat", 1_700_000_031) }, .issuedInFuture),
        ("iat missing", without("iat"), nil),
        ("iss missing", without("iss"), .claim("iss")),
        ("iss other", changed { $0.set("iss", "https://issuer.example/") }, .issuer),
        ("aud missing", without("aud"), .claim("aud")),
        ("aud other", changed { $0.set("aud", "Purser") }, .audience),
        ("aud list with ours", changed { $0.set("aud", ["other", "purser"]) }, nil),
        ("aud list without ours", changed { $0.set("aud", ["other"]) }, .audience),
        ("aud empty list", changed { $0.set("aud", []) }, .audience),
        ("aud list with a number", changed { $0.set("aud", ["purser", 1]) }, .claim("aud")),
        ("aud object", changed { $0.set("aud", ["purser": true]) }, .claim("aud")),
        ("sub number", changed { $0.set("sub", 1) }, .claim("sub")),
        ("sub missing", without("sub"), nil),
    ]

    @Test(arguments: tables.indices)
    func `claims are checked at their edges (S30)`(index: Int) throws {
        let (name, claims, error) = Self.tables[index]
        let verifier = Self.verifier([try .hs256(secret: Self.secret)])
        let token = try JWTSigner.hs256(secret: Self.secret).sign(claims)
        do throws(JWTError) {
            _ = try verifier.verify(token, now: Self.now)
            #expect(error == nil, "\(name)")
        } catch let thrown {
            #expect(thrown == error, "\(name)")
        }
    }

    @Test func `fractions of a second are cut, numbers beyond reason refused`() throws {
        let verifier = Self.verifier([try .hs256(secret: Self.secret)])
        for (exp, isGood) in [("1700000600.9", true), ("1e400", false), ("1e30", false)] {
            let payload = #"{"iss":"https://issuer.example","aud":"purser","exp":\#(exp)}"#
            #expect(Self.isAccepted(payload, by: verifier) == isGood, "\(exp)")
        }
    }

    @Test func `claims said twice are refused (S10)`() throws {
        let verifier = Self.verifier([try .hs256(secret: Self.secret)])
        let payload = #"{"iss":"https://issuer.example","aud":"purser","exp":1,"exp":1700000600}"#
        #expect(!Self.isAccepted(payload, by: verifier))
    }

    static func isAccepted(_ payload: String, by verifier: JWTVerifier) -> Bool {
        var text = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8)) + [UInt8(ascii: ".")]
        text += Base64URL.encode(Array(payload.utf8))
        let signature = HMAC.sha256(key: Self.secret, text)
        text += [UInt8(ascii: ".")] + Base64URL.encode(signature)
        return (try? verifier.verify(text, now: Self.now)) != nil
    }

    @Test func `a token over the size limit is refused before it is read (S09)`() throws {
        let verifier = Self.verifier([try .hs256(secret: Self.secret)])
        let token = try JWTSigner.hs256(secret: Self.secret).sign(
            Self.changed { $0.set("padding", .string(String(repeating: "x", count: 9000))) })
        #expect(throws: JWTError.format(.tooLarge(limit: 8192))) { try verifier.verify(token, now: Self.now) }
    }

    @Test func `leeway never exceeds a minute`() throws {
        let verifier = Self.verifier([try .hs256(secret: Self.secret)], leeway: 86400)
        let token = try JWTSigner.hs256(secret: Self.secret).sign(Self.changed { $0.set("exp", 1_699_999_939) })
        #expect(throws: JWTError.expired) { try verifier.verify(token, now: Self.now) }
    }

    @Test func `every byte of a token counts`() throws {
        let verifier = Self.verifier([try .hs256(secret: Self.secret)])
        let token = Array(try JWTSigner.hs256(secret: Self.secret).sign(Self.claims).utf8)
        for index in token.indices {
            var changed = token
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: JWTError.self) { try verifier.verify(changed, now: Self.now) }
        }
    }
}
