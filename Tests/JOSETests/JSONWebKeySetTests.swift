import Crypto
import JOSE
import JSON
import Testing

/// The key of RFC 7515 appendix A.2, and tokens signed with keys made here.
@Suite struct JSONWebKeySetTests {
    private static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs"
        + "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xs"
        + "mtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
    private static let header = "eyJhbGciOiJSUzI1NiJ9"
    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let signature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ"
        + "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwu"
        + "sC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"

    private static func parse(_ text: String) throws -> [JSONWebKeySet.Key] {
        try JSONWebKeySet.parse(Array(text.utf8))
    }

    @Test func `the RFC's example verifies with the RFC's key`() throws {
        let set = #"{"keys":[{"kty":"RSA","kid":"a2","use":"sig","alg":"RS256","n":"\#(Self.modulus)","e":"AQAB"}]}"#
        let key = try #require(try Self.parse(set).first)
        guard case .rs256(let material) = key.material else {
            Issue.record("\(key)")
            return
        }
        let signature = try #require(Base64URL.decode(Self.signature))
        #expect(material.isValidSignature(signature, for: Array("\(Self.header).\(Self.payload)".utf8)[...]))
        #expect(key.id == "a2")
    }

    @Test func `an elliptic key verifies what it signed`() throws {
        let key = try P256.PrivateKey.generate()
        let point = try key.publicKey().derRepresentation().suffix(64)
        let (x, y) = (Base64URL.string(Array(point.prefix(32))), Base64URL.string(Array(point.suffix(32))))
        let set = try Self.parse(#"{"keys":[{"kty":"EC","crv":"P-256","kid":"e","x":"\#(x)","y":"\#(y)"}]}"#)
        guard case .es256(let material)? = set.first?.material else {
            Issue.record("\(set)")
            return
        }
        #expect(material.isValidSignature(try key.signature(for: [1, 2]), for: [1, 2]))
    }

    @Test func `a token of RS256 is accepted, with another key or algorithm it is not`() throws {
        let key = try RSA.PrivateKey.generate()
        let claims: JSONObject = ["iss": "i", "aud": "a", "exp": 1_000]
        let token = try JWTSigner.rs256(id: "r", key).sign(claims)
        let verifier = JWTVerifier(keys: [.rs256(id: "r", try key.publicKey())], issuer: "i", audience: "a")
        #expect(try verifier.verify(token, now: 1).keyID == "r")
        let other = JWTVerifier(
            keys: [.rs256(id: "r", try RSA.PrivateKey.generate().publicKey())], issuer: "i", audience: "a")
        #expect(throws: JWTError.signature) { try other.verify(token, now: 1) }
        // The classic confusion: the public key, known to all, taken as an HMAC secret.
        let confused = try JWTSigner.hs256(id: "r", secret: try key.publicKey().derRepresentation()).sign(claims)
        #expect(throws: JWTError.algorithm) { try verifier.verify(confused, now: 1) }
    }

    @Test func `keys for something else are passed over`() throws {
        let good = #"{"kty":"RSA","kid":"g","n":"\#(Self.modulus)","e":"AQAB"}"#
        let others = [
            #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#, #"{"kty":"RSA","use":"enc","kid":"x"}"#,
            #"{"kty":"RSA","alg":"PS256","kid":"x"}"#, #"{"kty":"EC","crv":"P-384","kid":"x"}"#, #"{}"#,
        ]
        let set = try Self.parse("{\"keys\":[\((others + [good]).joined(separator: ","))]}")
        #expect(set.map(\.id) == ["g"])
    }

    static let refused: [(String, String)] = [
        ("[]", "no JSON Web Key Set"), ("{}", "no JSON Web Key Set"), (#"{"keys":[]}"#, "none of its keys"),
        (#"{"keys":[1]}"#, "is no object"), (#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "secret"),
        (#"{"keys":[{"kty":"RSA","kid":"a","n":"AQ","e":"AQAB"}]}"#, "no key that can be used"),
        (#"{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"}]}"#, "has no kid"),
        (#"{"keys":[{"kty":"RSA","kid":"a","n":"A=","e":"AQAB"}]}"#, "`n` of its key 0"),
        (#"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"AQ","y":"AQ"}]}"#, "no key that can be used"),
        (
            #"{"keys":[{"kty":"RSA","kid":"a","n":"\#(modulus)","e":"AQAB"},{"kty":"RSA","kid":"a","n":"\#(modulus)","e":"AQAB"}]}"#,
            "have the kid"
        ),
    ]

    @Test(arguments: refused) func `what is no usable set is refused and says why`(_ text: String, _ reason: String) {
        do {
            Issue.record("\(try Self.parse(text))")
        } catch {
            #expect((error as? JSONWebKeySet.Failure)?.reason.contains(reason) == true, "\(error)")
        }
    }
}
