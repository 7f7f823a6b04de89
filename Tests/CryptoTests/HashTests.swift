import Testing

@testable import Crypto

@Suite struct HashTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `SHA-256 gives the digests of FIPS 180-4`(text: String, expected: String) {
        #expect(Hex.encode(SHA256.hash(text)) == expected)
        let padded = [0x00] + Array(text.utf8) + [0x00]
        #expect(Hex.encode(SHA256.hash(padded[1..<padded.count - 1])) == expected)
    }

    @Test func `a hashed beginning can be continued many times`() throws {
        let prefix = try SHA256Prefix(Array("header".utf8))
        for rest in ["", ".payload", ".another payload", ".payload"] {
            #expect(prefix.hash(appending: Array(rest.utf8)[...]) == SHA256.hash("header" + rest))
        }
        #expect(try SHA256Prefix([]).hash(appending: []) == SHA256.hash([]))
    }

    @Test func `HMAC-SHA-256 gives the values of RFC 4231`() {
        let first = HMAC.sha256(key: [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
        #expect(Hex.encode(first) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let second = HMAC.sha256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(Hex.encode(second) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func `an empty HMAC key is a key, not a reuse of the last one`() {
        _ = HMAC.sha256(key: [1, 2, 3], [4])
        let empty = HMAC.sha256(key: [], [])
        #expect(Hex.encode(empty) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `constant-time comparison tells equal from different (S33)`() {
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(constantTimeEqual([], []))
    }

    @Test func `random bytes have the wanted number and differ`() throws {
        let first = try RandomBytes.generate(32)
        #expect(first.count == 32)
        #expect(try RandomBytes.generate(32) != first)
        #expect(try RandomBytes.generate(0).isEmpty)
    }

    @Test func `hexadecimal text is read in either case and nothing else`() {
        #expect(Hex.encode([0x00, 0xab, 0xff]) == "00abff")
        #expect(Hex.decode("00ABff") == [0x00, 0xab, 0xff])
        for text in ["0", "0g", "0x", " 00", "é"] { #expect(Hex.decode(text) == nil) }
    }
}
