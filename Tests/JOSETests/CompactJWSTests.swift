import JSON
import Testing

@testable import JOSE

@Suite struct CompactJWSTests {
    static func text(header: String, payload: String = "{}") -> [UInt8] {
        CompactJWS.assemble(
            headerSegment: Base64URL.encode(Array(header.utf8)), payload: Array(payload.utf8), signature: [1, 2, 3])
    }

    @Test func `three segments are cut, decoded and put together again`() throws {
        let text = Self.text(header: #"{"alg":"ES256"}"#, payload: #"{"a":1}"#)
        let jws = try CompactJWS(text)
        #expect(try jws.decodeHeader()["alg"] == "ES256")
        #expect(try jws.decodePayload() == Array(#"{"a":1}"#.utf8))
        #expect(try jws.decodeSignature() == [1, 2, 3])
        #expect(Array(jws.signingInput) == Array(text.dropLast(5)))
        let again = CompactJWS.assemble(
            headerSegment: Array(jws.headerSegment), payload: try jws.decodePayload(),
            signature: try jws.decodeSignature())
        #expect(again == text)
    }

    @Test(arguments: [
        ("", JWSError.segmentCount(0)), ("a", .segmentCount(1)), ("a.b", .segmentCount(2)),
        ("a.b.c.d", .segmentCount(4)), ("a.b.c.d.e", .segmentCount(5)), (".b.c", .emptySegment(.header)),
        ("a..c", .emptySegment(.payload)), ("a.b.", .emptySegment(.signature)), ("..", .emptySegment(.header)),
    ])
    func `anything but three filled segments is refused (S08)`(text: String, error: JWSError) {
        #expect(throws: error) { try CompactJWS(Array(text.utf8)) }
    }

    @Test func `limits are checked before anything is decoded (S09)`() {
        let limits = CompactJWS.Limits(maximumBytes: 100, maximumHeaderBytes: 20)
        #expect(throws: JWSError.tooLarge(limit: 100)) {
            try CompactJWS([UInt8](repeating: UInt8(ascii: "."), count: 101), limits: limits)
        }
        let header = [UInt8](repeating: UInt8(ascii: "A"), count: 21)
        #expect(throws: JWSError.tooLarge(limit: 20)) { try CompactJWS(header + Array(".e30.AA".utf8), limits: limits) }
        #expect(throws: JWSError.tooLarge(limit: 65536)) { try CompactJWS([UInt8](repeating: 65, count: 65537)) }
    }

    @Test(arguments: [
        (#"{"alg":"ES256","crit":["exp"]}"#, JWSError.criticalExtension),
        (#"{"alg":"ES256","crit":[]}"#, .criticalExtension),
        (#"{"alg":"ES256","crit":null}"#, .criticalExtension),
        (#"{"alg":"ES256","b64":false}"#, .criticalExtension), (#"{"alg":"ES256","b64":"true"}"#, .criticalExtension),
        (#"{"typ":"JWT"}"#, .missingAlgorithm), (#"{"alg":["ES256"]}"#, .missingAlgorithm),
        (#"{"alg":null}"#, .missingAlgorithm),
    ])
    func `headers that demand what nobody understands are refused (S07)`(header: String, error: JWSError) throws {
        let jws = try CompactJWS(Self.text(header: header))
        #expect(throws: error) { try jws.decodeHeader() }
    }

    @Test(arguments: [
        #"{"alg":"ES256","alg":"none"}"#, "[]", "{", #"{"alg":"ES256"}x"#, "\u{FEFF}{}", #"{"alg":"\u0000"}"#,
        String(repeating: "[", count: 100),
    ])
    func `header JSON is read strictly (S10)`(header: String) throws {
        let jws = try CompactJWS(Self.text(header: header))
        let error = #expect(throws: JWSError.self) { try jws.decodeHeader() }
        #expect(error?.code == "jws.json")
    }
}
