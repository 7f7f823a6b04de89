import AppStoreSimulation
import Crypto
import JOSE
import JSON

/// A genuine JWS after one transformation that needs no key: what anybody can make who has seen one.
public struct JWSMutant: Sendable {
    /// What was done to it.
    public let name: String
    /// The result.
    public let text: [UInt8]
    /// The reasons for which it may be refused (raw values of the verifier's reasons).
    public let reasons: Set<String>

    /// The three parts a JWS is made of, as sent and decoded.
    private struct Parts {
        let header: [UInt8]
        let payload: [UInt8]
        let signature: [UInt8]
        let head: JSONObject
        let body: JSONObject

        init(_ jws: [UInt8]) throws {
            let cut = try CompactJWS(jws)
            header = Array(cut.headerSegment)
            payload = try cut.decodePayload()
            signature = try cut.decodeSignature()
            head = try cut.decodeHeader()
            body = try JSONReader.parseObject(payload)
        }

        func with(header: [UInt8]? = nil, payload: [UInt8]? = nil, signature: [UInt8]? = nil) -> [UInt8] {
            CompactJWS.assemble(
                headerSegment: header ?? self.header, payload: payload ?? self.payload,
                signature: signature ?? self.signature)
        }

        func with(head name: String, _ value: JSONValue) -> [UInt8] {
            var copy = head
            copy.set(name, value)
            return with(header: Base64URL.encode(JSONWriter.write(copy)))
        }

        func with(body name: String, _ value: JSONValue) -> [UInt8] {
            var copy = body
            copy.set(name, value)
            return with(payload: JSONWriter.write(copy))
        }
    }

    /// Every transformation of `jws`, which must be genuine and have three certificates.
    public static func all(of jws: [UInt8]) throws -> [JWSMutant] {
        let parts = try Parts(jws)
        return algorithms(parts) + members(parts) + certificates(parts) + base64(jws, parts) + signatures(parts)
            + payloads(parts) + shapes(jws, parts) + truncated(jws) + flipped(jws)
    }

    private static func algorithms(_ parts: Parts) -> [JWSMutant] {
        let names = [
            "none", "None", "nOnE", "HS256", "HS512", "RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA", "es256",
            "ES256 ", "",
            "E\u{405}256",
        ]
        let others: [(String, JSONValue)] = [
            ("a list", ["ES256"]), ("an object", ["alg": "ES256"]), ("a number", 256), ("null", nil), ("true", true),
        ]
        return names.map { JWSMutant(name: "alg \($0)", text: parts.with(head: "alg", .string($0)), reasons: ["alg"]) }
            + others.map { JWSMutant(name: "alg is \($0.0)", text: parts.with(head: "alg", $0.1), reasons: ["alg"]) }
            + names.prefix(3).map {
                let header = Base64URL.encode(Array("{\"alg\":\"\($0)\"}".utf8)) + [UInt8(ascii: ".")]
                return JWSMutant(
                    name: "alg \($0) without signature",
                    text: header + Base64URL.encode(parts.payload) + [UInt8(ascii: ".")],
                    reasons: ["format"])
            }
    }

    private static func members(_ parts: Parts) -> [JWSMutant] {
        let ignored: [(String, JSONValue)] = [
            ("jku", "http://169.254.169.254/"), ("jwk", ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]),
            ("x5u", "file:///etc/passwd"),
            ("x5t", "AAAA"), ("kid", "../../dev/null"), ("kid", "' OR 1=1 --"), ("typ", "JWT"), ("cty", "JWT"),
            ("zip", "DEF"),
            ("enc", "A128GCM"), ("a", .string(String(repeating: "x", count: 4_000))),
        ]
        let nested = (0..<31).reduce(JSONValue.integer(1)) { inner, _ in .array([inner]) }
        let deep = (0..<40).reduce(JSONValue.integer(1)) { inner, _ in .array([inner]) }
        // A header that was changed is not the one that was signed.
        return ignored.map {
            JWSMutant(name: "header \($0.0)", text: parts.with(head: $0.0, $0.1), reasons: ["signature"])
        } + [
            JWSMutant(name: "crit", text: parts.with(head: "crit", ["exp"]), reasons: ["format"]),
            JWSMutant(name: "b64 false", text: parts.with(head: "b64", false), reasons: ["format"]),
            JWSMutant(
                name: "a header nested within bounds", text: parts.with(head: "a", nested), reasons: ["signature"]),
            JWSMutant(name: "a header nested too deep", text: parts.with(head: "a", deep), reasons: ["format"]),
            JWSMutant(
                name: "a header of 17 KiB",
                text: parts.with(head: "a", .string(String(repeating: "x", count: 17 << 10))),
                reasons: ["too_large"]),
            JWSMutant(
                name: "six hundred members",
                text: parts.with(
                    header: Base64URL.encode(JSONWriter.write(JSONObject((0..<600).map { ("k\($0)", 0) })))),
                reasons: ["format"]),
            JWSMutant(
                name: "alg twice",
                text: parts.with(
                    header: Base64URL.encode(
                        Array("{\"alg\":\"none\",".utf8) + JSONWriter.write(parts.head).dropFirst())),
                reasons: ["format"]),
            JWSMutant(
                name: "a header that is a list", text: parts.with(header: Base64URL.encode(Array("[]".utf8))),
                reasons: ["format"]),
        ]
    }

    private static func certificates(_ parts: Parts) -> [JWSMutant] {
        let x5c = parts.head["x5c"]?.arrayValue ?? []
        guard x5c.count == 3, let leaf = x5c[0].stringValue else { return [] }
        func mutant(_ name: String, _ list: [JSONValue], _ reasons: Set<String>) -> JWSMutant {
            JWSMutant(name: name, text: parts.with(head: "x5c", .array(list)), reasons: reasons)
        }
        let lengths = [0, 1, 2, 4, 5, 10].map { count in
            mutant("\(count) certificates", (0..<count).map { x5c[min($0, 2)] }, ["chain_length", "too_large"])
        }
        let orders = [
            [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [0, 2, 1], [0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 1, 1],
            [0, 0, 1],
        ]
        .map { order in
            mutant("certificates \(order)", order.map { x5c[$0] }, ["signature", "key"])
        }
        let texts = [
            ("in base64url", leaf.replacing("+", with: "-").replacing("/", with: "_")),
            ("without padding", leaf.replacing("=", with: "")),
            ("with a line end", leaf + "\n"),
            ("in PEM", "-----BEGIN CERTIFICATE-----\n\(leaf)\n-----END CERTIFICATE-----"), ("empty", ""),
            ("of nine bytes", "AAAAAAAAAAAA"), ("of 5 KiB", String(repeating: "AAAA", count: 1_800)),
            ("twice in one", leaf + leaf),
        ].map { name, text in
            mutant("a leaf \(name)", [.string(text), x5c[1], x5c[2]], ["certificate", "signature", "too_large"])
        }
        return lengths + orders + texts + [
            mutant("numbers for certificates", [1, 2, 3], ["certificate"]),
            JWSMutant(name: "x5c is a text", text: parts.with(head: "x5c", .string(leaf)), reasons: ["certificate"]),
            JWSMutant(
                name: "x5c is an object", text: parts.with(head: "x5c", ["0": .string(leaf)]), reasons: ["certificate"]),
        ]
    }

    private static func base64(_ jws: [UInt8], _ parts: Parts) -> [JWSMutant] {
        let text = String(decoding: jws, as: UTF8.self)
        let cut = text.split(separator: ".").map(String.init)
        var mutants: [JWSMutant] = []
        for (place, name) in ["header", "payload", "signature"].enumerated() {
            for (what, change) in [
                ("padded", { $0 + "=" }), ("padded twice", { $0 + "==" }), ("with a line end", { $0 + "\n" }),
                ("with a space", { " " + $0 }),
                ("one digit longer", { $0 + "A" }), ("one digit shorter", { String($0.dropLast()) }),
                ("with NUL", { $0 + "\u{0}" }),
                ("with a plus", { "+" + $0.dropFirst() }), ("with a percent escape", { $0 + "%3D" }),
                ("empty", { _ in "" }),
            ] as [(String, (String) -> String)] {
                var changed = cut
                changed[place] = change(cut[place])
                mutants.append(
                    JWSMutant(
                        name: "\(name) \(what)", text: Array(changed.joined(separator: ".").utf8),
                        reasons: ["format", "signature", "alg", "certificate"]))
            }
        }
        return mutants
    }

    private static func signatures(_ parts: Parts) -> [JWSMutant] {
        let (r, s) = (Array(parts.signature[..<32]), Array(parts.signature[32...]))
        let zero = [UInt8](repeating: 0, count: 32)
        let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []
        let der = [0x30, 0x44, 0x02, 0x20] + r + [0x02, 0x20] + s
        return [
            ("DER", der), ("63 bytes", Array(parts.signature.dropLast())), ("65 bytes", parts.signature + [0]),
            ("96 bytes", r + s + s),
            ("zeros", zero + zero), ("r of zero", zero + s), ("s of zero", r + zero), ("r of the order", order + s),
            ("s of the order", r + order),
            ("all bits", [UInt8](repeating: 0xFF, count: 64)), ("s and r", s + r), ("r twice", r + r),
            ("one byte", [1]),
            ("32 KiB", [UInt8](repeating: 1, count: 32 << 10)),
        ].map { JWSMutant(name: "signature: \($0.0)", text: parts.with(signature: $0.1), reasons: ["signature"]) }
    }

    private static func payloads(_ parts: Parts) -> [JWSMutant] {
        let changes: [(String, JSONValue)] = [
            ("environment", "Sandbox"), ("bundleId", "com.example.other"), ("transactionId", "1"), ("quantity", 100),
            ("productId", "dear"),
            ("appAccountToken", "00000000-0000-0000-0000-000000000000"), ("revocationDate", nil), ("new", 1),
        ]
        return changes.map {
            JWSMutant(name: "payload \($0.0)", text: parts.with(body: $0.0, $0.1), reasons: ["signature"])
        } + [
            JWSMutant(
                name: "payload with white space", text: parts.with(payload: [0x20] + parts.payload),
                reasons: ["signature"]),
            JWSMutant(name: "payload of nothing", text: parts.with(payload: [0]), reasons: ["signature"]),
            JWSMutant(
                name: "payload of 30,000 lists", text: parts.with(payload: [UInt8](repeating: 0x5B, count: 30_000)),
                reasons: ["signature"]),
            JWSMutant(
                name: "payload of 64 KiB", text: parts.with(payload: [UInt8](repeating: 0x20, count: 64 << 10)),
                reasons: ["too_large"]),
        ]
    }

    private static func shapes(_ jws: [UInt8], _ parts: Parts) -> [JWSMutant] {
        let text = String(decoding: jws, as: UTF8.self)
        let cut = text.split(separator: ".").map(String.init)
        let payload = Base64URL.string(parts.payload)
        return [
            ("payload before header", [cut[1], cut[0], cut[2]].joined(separator: ".")),
            ("five segments", text + ".AAAA.AAAA"),
            ("a segment twice", [cut[0], cut[1], cut[1], cut[2]].joined(separator: ".")), ("two of them", text + text),
            ("two of them in lines", text + "\n" + text), ("only dots", "..."),
            ("full width dots", text.replacing(".", with: "\u{FF0E}")),
            ("escaped dots", text.replacing(".", with: "%2E")), ("in quotes", "\"\(text)\""),
            ("behind Bearer", "Bearer \(text)"),
            ("behind a byte order mark", "\u{FEFF}\(text)"), ("in upper case", text.uppercased()),
            ("in JSON", "{\"protected\":\"\(cut[0])\",\"payload\":\"\(payload)\",\"signature\":\"\(cut[2])\"}"),
            ("in base64 again", Base64URL.string(jws)),
        ].map { JWSMutant(name: $0.0, text: Array($0.1.utf8), reasons: ["format", "alg", "signature", "certificate"]) }
            + [
                JWSMutant(
                    name: "a megabyte behind it", text: jws + [UInt8](repeating: 0x41, count: 1 << 20),
                    reasons: ["too_large"])
            ]
    }

    private static func truncated(_ jws: [UInt8]) -> [JWSMutant] {
        stride(from: 1, to: jws.count, by: 131).map {
            JWSMutant(name: "the first \($0) bytes", text: Array(jws[..<$0]), reasons: ["format", "signature"])
        }
    }

    /// One bit of every forty-third byte, all eight in turn.
    private static func flipped(_ jws: [UInt8]) -> [JWSMutant] {
        stride(from: 0, to: jws.count, by: 43).map { place in
            var copy = jws
            copy[place] ^= UInt8(1) << UInt8(place / 43 % 8)
            return JWSMutant(
                name: "bit \(place / 43 % 8) of byte \(place)", text: copy,
                reasons: ["format", "signature", "alg", "certificate", "chain_length", "key"])
        }
    }
}
