import Testing

@testable import JOSE

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base64url and base64 read and write the vectors of RFC 4648`(text: String, encoded: String) {
        let bytes = Array(text.utf8)
        #expect(Base64URL.string(bytes) == encoded)
        #expect(Base64URL.decode(encoded) == bytes)
        let padded = encoded + String(repeating: "=", count: (4 - encoded.count % 4) % 4)
        #expect(Base64.encode(bytes) == padded)
        #expect(Base64.decode(padded) == bytes)
    }

    @Test func `every length of random bytes survives the round trip`() {
        var generator = SystemRandomNumberGenerator()
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base64URL.decode(Base64URL.string(bytes)) == bytes)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test func `whatever is decoded is the only text for its bytes (S08)`() {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= ".utf8)
        var ambiguous: [String] = []
        for first in digits {
            for second in digits {
                for third in digits + [0] {
                    let text = third == 0 ? [first, second] : [first, second, third]
                    if let bytes = Base64URL.decode(text[...]), Base64URL.encode(bytes) != text {
                        ambiguous.append(String(decoding: text, as: UTF8.self))
                    }
                    let padded = String(decoding: text, as: UTF8.self) + (third == 0 ? "==" : "=")
                    if let bytes = Base64.decode(padded), Base64.encode(bytes) != padded { ambiguous.append(padded) }
                }
            }
        }
        #expect(ambiguous.prefix(5).isEmpty)
    }

    @Test(arguments: [
        "Zg==", "Zh", "Zm9", "Z", "Zm9vY", "Zm 9v", "Zm9v\n", "+/+/", "Zm9v=", "Zm9vYmF", "é", "A\u{0}AA",
    ])
    func `base64url refuses padding, foreign digits, white space and unused bits (S08)`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: ["Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "=", "====", "Z===", "Zm9v\n", "-_-_", "Zg==Zg=="])
    func `base64 demands exact padding (S08)`(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
