import Testing

@testable import Crypto

@Suite struct P256Tests {
    /// Order of the group (FIPS 186-4 D.1.2.3).
    static let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []
    /// RFC 6979 A.2.5, message "sample", SHA-256.
    static let vectorKey =
        "3059301306072a8648ce3d020106082a8648ce3d03010703420004"
        + "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    static let vectorSignature =
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"

    static func subtract(_ right: [UInt8], from left: [UInt8]) -> [UInt8] {
        var result = left
        var borrow = 0
        for index in left.indices.reversed() {
            let difference = Int(left[index]) - Int(right[index]) - borrow
            borrow = difference < 0 ? 1 : 0
            result[index] = UInt8(truncatingIfNeeded: difference)
        }
        return result
    }

    @Test func `a signature of RFC 6979 verifies, and no bit of it may change`() throws {
        let key = try P256.PublicKey(der: try #require(Hex.decode(Self.vectorKey)))
        let signature = try #require(Hex.decode(Self.vectorSignature))
        #expect(key.isValidSignature(signature, for: Array("sample".utf8)))
        #expect(!key.isValidSignature(signature, for: Array("samplf".utf8)))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValidSignature(changed, for: Array("sample".utf8)))
        }
    }

    @Test func `a reused verifier answers every time by the signature before it alone`() throws {
        let key = try P256.PrivateKey.generate()
        let verifier = try P256.SignatureVerifier(key.publicKey())
        let message = Array("message".utf8)
        let signature = try key.signature(for: message)
        for round in 0..<20 {
            #expect(verifier.isValidSignature(signature, for: message[...]))
            #expect(!verifier.isValidSignature(signature, for: [UInt8(round)]))
        }
        #expect(OpenSSLErrorQueue.drain() == "no reason given")
    }

    @Test func `only 64 bytes with r and s between 1 and n-1 are a signature (S06)`() throws {
        let key = try P256.PrivateKey.generate()
        let publicKey = try key.publicKey()
        let message = Array("message".utf8)
        let good = try key.signature(for: message)
        let r = Array(good.prefix(32))
        let s = Array(good.suffix(32))
        let zero = [UInt8](repeating: 0, count: 32)
        let ones = [UInt8](repeating: 0xff, count: 32)
        var der = [UInt8](repeating: 0, count: ECDSASignature.maximumDERByteCount)
        let length = der.withUnsafeMutableBufferPointer { output in
            good.withUnsafeBytes { ECDSASignature.writeDER(raw: $0, to: output) }
        }
        let bad: [[UInt8]] = [
            [], Array(good.prefix(63)), good + [0], Array(der.prefix(length)), zero + zero, zero + s, r + zero,
            Self.order + s, r + Self.order, ones + ones,
        ]
        for signature in bad { #expect(!publicKey.isValidSignature(signature, for: message)) }
        #expect(OpenSSLErrorQueue.drain() == "no reason given")
        #expect(publicKey.isValidSignature(good, for: message))
    }

    @Test func `the twin with n minus s verifies too, so a signature is never a key (S06)`() throws {
        let key = try P256.PrivateKey.generate()
        let message = Array("message".utf8)
        let signature = try key.signature(for: message)
        let twin = Array(signature.prefix(32)) + Self.subtract(Array(signature.suffix(32)), from: Self.order)
        #expect(twin != signature)
        #expect(try key.publicKey().isValidSignature(twin, for: message))
    }

    @Test func `short scalars survive the way from DER to fixed width and back`() throws {
        let key = try P256.PrivateKey.generate()
        let publicKey = try key.publicKey()
        // One signature in 128 has a scalar with a leading zero byte.
        for number in 0..<600 {
            let message = [UInt8(number & 0xff), UInt8(number >> 8)]
            #expect(publicKey.isValidSignature(try key.signature(for: message), for: message))
        }
    }

    @Test func `keys survive PEM, and keys of another kind are refused`() throws {
        let key = try P256.PrivateKey.generate()
        let again = try P256.PrivateKey(pem: key.pemRepresentation())
        #expect(try again.publicKey().derRepresentation() == key.publicKey().derRepresentation())
        let pem = try key.publicKey().pemRepresentation()
        #expect(try P256.PublicKey(pem: pem).derRepresentation() == key.publicKey().derRepresentation())
        let other = try P384.PrivateKey.generate()
        #expect(throws: CryptoError.self) { try P256.PrivateKey(pem: other.pemRepresentation()) }
        #expect(throws: CryptoError.self) { try P256.PublicKey(der: other.publicKey().derRepresentation()) }
        #expect(throws: CryptoError.self) { try P256.PublicKey(der: key.publicKey().derRepresentation() + [0]) }
        #expect(throws: CryptoError.self) { try P256.PublicKey(der: []) }
        #expect(throws: CryptoError.self) { try P256.PrivateKey(pem: pem) }
        #expect(throws: CryptoError.self) { try P256.PrivateKey(pem: "no key at all") }
        #expect(OpenSSLErrorQueue.drain() == "no reason given")
    }

    @Test(arguments: [
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
            + "-----END EC PRIVATE KEY-----\n",
    ])
    func `an encrypted key is refused without asking anybody for a passphrase`(pem: String) {
        #expect(throws: CryptoError.invalidPEM(reason: "the block is encrypted")) { try P256.PrivateKey(pem: pem) }
    }

    @Test func `a private key never shows itself`() throws {
        #expect("\(try P256.PrivateKey.generate())" == "P-256 private key")
    }
}
