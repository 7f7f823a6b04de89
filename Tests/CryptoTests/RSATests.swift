import Crypto
import Testing

@Suite struct RSATests {
    @Test func `a signature holds for its key and its message only`() throws {
        let key = try RSA.PrivateKey.generate()
        let message = Array("message".utf8)
        let signature = try key.signature(for: message)
        let publicKey = try key.publicKey()
        #expect(publicKey.isValidSignature(signature, for: message[...]))
        #expect(!publicKey.isValidSignature(signature, for: Array("massage".utf8)[...]))
        #expect(!(try RSA.PrivateKey.generate().publicKey()).isValidSignature(signature, for: message[...]))
        var changed = signature
        changed[17] ^= 1
        #expect(!publicKey.isValidSignature(changed, for: message[...]))
        #expect(!publicKey.isValidSignature([], for: message[...]))
    }

    @Test func `a key from DER and from PEM is the same key`() throws {
        let key = try RSA.PrivateKey.generate()
        let signature = try key.signature(for: [1])
        let der = try key.publicKey().derRepresentation()
        let pem = try key.publicKey().pemRepresentation()
        #expect(try RSA.PublicKey(der: der).isValidSignature(signature, for: [1]))
        #expect(try RSA.PublicKey(pem: pem).isValidSignature(signature, for: [1]))
    }

    @Test func `another kind of key and short numbers are refused`() throws {
        let elliptic = try P256.PrivateKey.generate().publicKey().derRepresentation()
        #expect(throws: CryptoError.self) { try RSA.PublicKey(der: elliptic) }
        // 1,024 bits, and nothing.
        #expect(throws: CryptoError.self) {
            try RSA.PublicKey(modulus: [UInt8](repeating: 0xFF, count: 128), exponent: [1, 0, 1])
        }
        #expect(throws: CryptoError.self) { try RSA.PublicKey(modulus: [], exponent: []) }
        #expect(throws: CryptoError.self) { try RSA.PublicKey(der: [0x30, 0]) }
    }
}
