public import Crypto
import JOSE
public import JSON

/// Signs what Apple would sign: transactions, renewal info, notifications, app transactions. Any thread.
public struct TransactionSigner: Sendable {
    /// Whose certificates the header carries.
    public let authority: SimulatedAuthority
    private let headerSegment: [UInt8]

    /// Signs with the authority's leaf; the header is made once.
    public init(_ authority: SimulatedAuthority) {
        self.authority = authority
        headerSegment = Base64URL.encode(JSONWriter.write(Self.header(x5c: authority.x5c)))
    }

    /// The header's members as Apple has them.
    public static func header(x5c: [String]) -> JSONObject {
        ["alg": "ES256", "x5c": .array(x5c.map { .string($0) })]
    }

    /// A signed transaction.
    public func sign(_ transaction: SimulatedTransaction) throws(CryptoError) -> [UInt8] {
        try sign(payload: JSONWriter.write(transaction.json))
    }

    /// A signed notification.
    public func sign(_ notification: SimulatedNotification) throws(CryptoError) -> [UInt8] {
        try sign(payload: JSONWriter.write(notification.json))
    }

    /// Any signed JSON, for renewal info and app transactions.
    public func sign(_ object: JSONObject) throws(CryptoError) -> [UInt8] {
        try sign(payload: JSONWriter.write(object))
    }

    /// Any JSON signed by the leaf without markers, which no verifier may accept; nil if the authority has none.
    public func signUnmarked(_ object: JSONObject) throws(CryptoError) -> [UInt8]? {
        guard let unmarked = authority.unmarked else { return nil }
        let chain = [unmarked.certificate, authority.intermediate, authority.root].map { Base64.encode($0.der) }
        let header = Base64URL.encode(JSONWriter.write(Self.header(x5c: chain)))
        let payload = JSONWriter.write(object)
        let input = header + [UInt8(ascii: ".")] + Base64URL.encode(payload)
        let signature = try unmarked.key.signature(for: input)
        return CompactJWS.assemble(headerSegment: header, payload: payload, signature: signature)
    }

    /// Any signed bytes: the way to sign what no writer of JSON would write.
    public func sign(payload: [UInt8]) throws(CryptoError) -> [UInt8] {
        try sign(payload: payload, headerSegment: headerSegment)
    }

    /// Any signed bytes under any header.
    public func sign(payload: [UInt8], header: JSONObject) throws(CryptoError) -> [UInt8] {
        try sign(payload: payload, headerSegment: Base64URL.encode(JSONWriter.write(header)))
    }

    /// Any signed bytes under any header text.
    public func sign(payload: [UInt8], headerSegment: [UInt8]) throws(CryptoError) -> [UInt8] {
        let input = headerSegment + [UInt8(ascii: ".")] + Base64URL.encode(payload)
        let signature = try authority.leafKey.signature(for: input)
        return CompactJWS.assemble(headerSegment: headerSegment, payload: payload, signature: signature)
    }

    /// The same data with the other valid signature (r, n−s), which anybody can make: ECDSA is malleable.
    ///
    /// Nil if the text is no compact JWS with a signature of 64 bytes.
    public static func malleableTwin(of jws: [UInt8]) -> [UInt8]? {
        guard let parts = try? CompactJWS(jws), let payload = try? parts.decodePayload(),
            let signature = try? parts.decodeSignature(), signature.count == P256.signatureByteCount
        else { return nil }
        // Order of the group P-256 (FIPS 186-4 D.1.2.3).
        let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") ?? []
        var difference = Array(signature[32...])
        var borrow = 0
        for index in order.indices.reversed() {
            let digit = Int(order[index]) - Int(difference[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            difference[index] = UInt8(truncatingIfNeeded: digit)
        }
        return CompactJWS.assemble(
            headerSegment: Array(parts.headerSegment), payload: payload, signature: signature[..<32] + difference)
    }
}
