/// The two forms of an ECDSA signature: JOSE's fixed-width r‖s (RFC 7518 §3.4) and OpenSSL's DER.
enum ECDSASignature {
    /// Bytes of r, and of s, on P-256.
    static let scalarByteCount = 32
    /// A DER signature on P-256 is at most SEQUENCE header + 2 × (INTEGER header + sign byte + scalar).
    static let maximumDERByteCount = 2 + 2 * (2 + 1 + scalarByteCount)

    /// Writes the DER form of `raw` (64 bytes) to `output`; returns its length.
    ///
    /// Ranges are not checked here: OpenSSL refuses r or s that are 0 or not below the group order.
    static func writeDER(
        raw: UnsafeRawBufferPointer, to output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var end = 2
        end = writeInteger(raw, from: 0, to: output, at: end)
        end = writeInteger(raw, from: scalarByteCount, to: output, at: end)
        output[0] = 0x30  // SEQUENCE
        output[1] = UInt8(end - 2)
        return end
    }

    private static func writeInteger(
        _ raw: UnsafeRawBufferPointer, from start: Int, to output: UnsafeMutableBufferPointer<UInt8>, at position: Int
    ) -> Int {
        let stop = start + scalarByteCount
        var first = start
        // Shortest form: no leading zeros except a lone one, and one zero before a set top bit.
        while first < stop - 1 && raw[first] == 0 { first += 1 }
        let needsSign = raw[first] & 0x80 != 0
        output[position] = 0x02  // INTEGER
        output[position + 1] = UInt8(stop - first + (needsSign ? 1 : 0))
        var next = position + 2
        if needsSign {
            output[next] = 0
            next += 1
        }
        for index in first..<stop {
            output[next] = raw[index]
            next += 1
        }
        return next
    }

    /// The 64 bytes r‖s of a DER signature that OpenSSL made, or nil if it has another shape.
    static func raw(der: [UInt8]) -> [UInt8]? {
        guard der.count > 2, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var position = 2
        var raw: [UInt8] = []
        for _ in 0..<2 {
            guard position + 2 <= der.count, der[position] == 0x02 else { return nil }
            let length = Int(der[position + 1])
            let start = position + 2
            guard length > 0, start + length <= der.count else { return nil }
            let digits = der[start..<start + length].drop { $0 == 0 }
            guard digits.count <= scalarByteCount else { return nil }
            raw += [UInt8](repeating: 0, count: scalarByteCount - digits.count) + digits
            position = start + length
        }
        return position == der.count ? raw : nil
    }
}
