import AppStoreSimulation
import Crypto
import JOSE
import JSON
import Testing

@testable import AppStore

/// Attacks on the form and the signature of a JWS.
@Suite struct SignatureThreatTests {
    @Test func `a genuine transaction is verified with its evidence`() throws {
        var world = try World()
        let jws = try world.signer.sign(World.transaction())
        guard case .verified(let verified) = try world.verifier.verifyTransaction(jws, now: World.now) else {
            Issue.record("not verified")
            return
        }
        #expect(verified.appID == "game")
        #expect(verified.environment == .production)
        #expect(verified.payload.transactionID == "2000000000000001")
        #expect(verified.evidence.jws() == jws)
        #expect(verified.evidence.payloadSHA256 == SHA256.hash(verified.evidence.payload))
        #expect(verified.signer.subject.contains("leaf"))
        #expect((5000...6500).contains(jws.count), "benchmarks rely on Apple's size, this has \(jws.count) bytes")
    }

    @Test(arguments: [
        "none", "None", "NONE", "HS256", "RS256", "ES384", "ES512", "es256", "ES256 ", "PS256", "EdDSA", "",
    ])
    func `only ES256 is accepted, whatever key fits (S01)`(algorithm: String) throws {
        var world = try World()
        let payload = JSONWriter.write(World.transaction().json)
        var header = TransactionSigner.header(x5c: world.authority.x5c)
        header.set("alg", .string(algorithm))
        #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == .alg)
    }

    @Test func `a missing, listed or numeric algorithm is no algorithm (S01)`() throws {
        var world = try World()
        let payload = JSONWriter.write(World.transaction().json)
        for algorithm: JSONValue in [["ES256"], 256, nil, ["alg": "ES256"], true] {
            var header = TransactionSigner.header(x5c: world.authority.x5c)
            header.set("alg", algorithm)
            #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == .alg)
        }
        let header: JSONObject = ["x5c": .array(world.authority.x5c.map { .string($0) })]
        #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == .alg)
    }

    @Test func `the public key is no shared secret (S01)`() throws {
        var world = try World()
        var header = TransactionSigner.header(x5c: world.authority.x5c)
        header.set("alg", "HS256")
        let secret = try world.authority.leafKey.publicKey().derRepresentation()
        let token = try JWTSigner.hs256(secret: secret).sign(World.transaction().json, header: header)
        #expect(world.refusal(Array(token.utf8)) == .alg)
        header.set("alg", "ES256")
        let disguised = try JWTSigner.hs256(secret: secret).sign(World.transaction().json, header: header)
        #expect(world.refusal(Array(disguised.utf8)) == .signature)
    }

    static func replacingSignature(of jws: [UInt8], with signature: [UInt8]) throws -> [UInt8] {
        let parts = try CompactJWS(jws)
        return CompactJWS.assemble(
            headerSegment: Array(parts.headerSegment), payload: try parts.decodePayload(), signature: signature)
    }

    @Test func `a signature is 64 bytes with r and s in range, on a known and on an unknown signer (S06)`() throws {
        var world = try World()
        let jws = try world.signer.sign(World.transaction())
        let good = try CompactJWS(jws).decodeSignature()
        let r = Array(good[..<32])
        let s = Array(good[32...])
        let zero = [UInt8](repeating: 0, count: 32)
        let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []
        let der: [UInt8] = [0x30, 0x44, 0x02, 0x20] + r + [0x02, 0x20] + s
        let bad = [
            der, Array(good.dropLast()), good + [0], zero + zero, zero + s, r + zero, order + s, r + order,
            [UInt8](repeating: 0xff, count: 64), s + r,
        ]
        for round in 0..<2 {
            for signature in bad {
                let forged = try Self.replacingSignature(of: jws, with: signature)
                #expect(world.refusal(forged) == .signature)
            }
            #expect(world.verifier.cachedSigners == round)
            #expect(world.refusal(jws) == nil)
        }
    }

    @Test
    func `the malleable twin verifies with the same payload and id, so neither text nor signature is a key (S06)`()
        throws
    {
        var world = try World()
        let jws = try world.signer.sign(World.transaction())
        let twin = try #require(TransactionSigner.malleableTwin(of: jws))
        #expect(twin != jws)
        let first = try world.verifier.verifyTransaction(jws, now: World.now).transaction
        let second = try world.verifier.verifyTransaction(twin, now: World.now).transaction
        #expect(first.payload == second.payload)
        #expect(first.payload.transactionID == second.payload.transactionID)
        #expect(first.evidence.payloadSHA256 == second.evidence.payloadSHA256)
        #expect(first.evidence.signature != second.evidence.signature)
    }

    @Test func `no byte of a signed text may change`() throws {
        var world = try World()
        let jws = try world.signer.sign(World.transaction())
        _ = try world.verifier.verifyTransaction(jws, now: World.now)
        for index in stride(from: 0, to: jws.count, by: 7) {
            var changed = jws
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(world.refusal(changed) != nil)
        }
        #expect(world.verifier.cachedSigners == 1)
    }

    @Test func `critical headers are refused, addresses and foreign keys ignored and never fetched (S07)`() throws {
        var world = try World()
        let payload = JSONWriter.write(World.transaction().json)
        let refused: [(String, JSONValue)] = [
            ("crit", ["exp"]), ("crit", []), ("crit", nil), ("b64", false), ("b64", "true"),
        ]
        for (name, value) in refused {
            var header = TransactionSigner.header(x5c: world.authority.x5c)
            header.set(name, value)
            #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == .format)
        }
        // Nothing in the module can open a connection: it imports neither sockets nor an HTTP client.
        let ignored: [(String, JSONValue)] = [
            ("jku", "http://169.254.169.254/latest/"), ("jwk", ["kty": "EC", "crv": "P-256"]), ("x5u", "file:///etc"),
            ("x5t", "AAAA"), ("kid", "../../etc/passwd"), ("kid", "' OR 1=1 --"), ("kid", "a\r\nb"), ("typ", "JWT"),
        ]
        for (name, value) in ignored {
            var header = TransactionSigner.header(x5c: world.authority.x5c)
            header.set(name, value)
            #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == nil)
            let stranger = try P256.PrivateKey.generate()
            let forger = TransactionSigner(
                SimulatedAuthority(
                    root: world.authority.root, intermediate: world.authority.intermediate, leaf: world.authority.leaf,
                    leafKey: stranger))
            #expect(world.refusal(try forger.sign(payload: payload, header: header)) == .signature)
        }
    }

    @Test func `base64url is strict in every segment (S08)`() throws {
        var world = try World()
        let jws = try world.signer.sign(World.transaction())
        let text = String(decoding: jws, as: UTF8.self)
        let parts = text.split(separator: ".").map(String.init)
        let mutants = [
            text + "=", text + "==", text + "\n", " " + text, "\u{FEFF}" + text, text + ".", text + ".AAAA",
            parts[0] + "." + parts[1], parts[0], "", "..", "." + parts[1] + "." + parts[2],
            parts[0] + ".." + parts[2], parts[0] + "." + parts[1] + ".",
            text.replacingFirst("_", with: "/"), text.replacingFirst("-", with: "+"),
            parts[0] + "." + parts[1] + "\r\n." + parts[2],
        ]
        for round in 0..<2 {
            for mutant in mutants where mutant != text {
                let reason = world.refusal(Array(mutant.utf8))
                // A changed header or payload is no longer what was signed; both are refused for one or the other.
                #expect(reason == .format || reason == .signature, "\(mutant.suffix(20)) in round \(round)")
            }
            #expect(world.refusal(jws) == nil)
        }
        // 86 digits stand for 64 bytes with four unused bits: only one last digit of sixteen is canonical.
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let last = try #require(jws.last)
        let accepted = digits.filter { digit in world.refusal(jws.dropLast() + [digit]) == nil }
        #expect(accepted == [last])
    }

    @Test func `sizes are limited before anything is decoded (S09)`() throws {
        var world = try World()
        let jws = try world.signer.sign(World.transaction())
        #expect(world.refusal([UInt8](repeating: UInt8(ascii: "A"), count: 1 << 20)) == .tooLarge)
        #expect(world.refusal(jws + [UInt8](repeating: UInt8(ascii: "A"), count: 64 << 10)) == .tooLarge)
        var header = TransactionSigner.header(x5c: world.authority.x5c)
        header.set("padding", .string(String(repeating: "x", count: 16 << 10)))
        let bomb = try world.signer.sign(payload: [], header: header)
        #expect(world.refusal(bomb + Array("e30".utf8)) != nil)
        let payload = JSONWriter.write(World.transaction().json)
        #expect(world.refusal(try world.signer.sign(payload: payload, header: header)) == .tooLarge)
        let many = TransactionSigner.header(x5c: [String](repeating: "QUFB", count: 1000))
        #expect(world.refusal(try world.signer.sign(payload: payload, header: many)) == .chainLength)
    }

    @Test func `nested and crowded JSON is refused, also when it is signed (S09)`() throws {
        var world = try World()
        let depth = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(try world.refusal(payload: "{\"a\":\(depth)}") == .format)
        let keys = (0..<600).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(try world.refusal(payload: "{\(keys)}") == .format)
        let header = #"{"alg":"ES256","x5c":"# + String(repeating: "[", count: 5000)
        let segment = Base64URL.encode(Array(header.utf8))
        #expect(world.refusal(try world.signer.sign(payload: [123, 125], headerSegment: segment)) == .format)
    }
}

extension String {
    /// The text with the first occurrence of a character exchanged.
    fileprivate func replacingFirst(_ character: Character, with other: Character) -> String {
        guard let index = firstIndex(of: character) else { return self }
        return self[..<index] + String(other) + self[self.index(after: index)...]
    }
}
