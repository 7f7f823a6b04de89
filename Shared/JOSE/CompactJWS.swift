import Glibc
public import JSON

/// Why a text is no acceptable compact JWS.
public enum JWSError: Error, Sendable, Equatable {
    /// The part of the text that a fault was found in.
    public enum Part: String, Sendable, Equatable {
        /// First segment.
        case header
        /// Second segment.
        case payload
        /// Third segment.
        case signature
    }

    /// Longer than the limit in bytes.
    case tooLarge(limit: Int)
    /// Not three segments.
    case segmentCount(Int)
    /// A segment is empty.
    case emptySegment(Part)
    /// A segment is no canonical base64url.
    case invalidBase64URL(Part)
    /// A segment's JSON is refused.
    case invalidJSON(Part, JSONError)
    /// The header has `crit`, or `b64` other than true: extensions nobody here understands (RFC 7515 §4.1.11).
    case criticalExtension
    /// `alg` is missing or no text.
    case missingAlgorithm

    /// A stable dotted name for logs and metrics.
    public var code: String {
        switch self {
        case .tooLarge: "jws.too_large"
        case .segmentCount: "jws.segments"
        case .emptySegment: "jws.empty_segment"
        case .invalidBase64URL: "jws.base64url"
        case .invalidJSON: "jws.json"
        case .criticalExtension: "jws.critical_extension"
        case .missingAlgorithm: "jws.algorithm"
        }
    }

    /// The same text will be refused again.
    public var isRetryable: Bool { false }
}

extension JWSError: CustomStringConvertible {
    /// One sentence, free of content.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "longer than \(limit) bytes"
        case .segmentCount(let count): "\(count) segments separated by dots instead of three"
        case .emptySegment(let part): "the \(part.rawValue) is empty"
        case .invalidBase64URL(let part): "the \(part.rawValue) is not canonical base64url"
        case .invalidJSON(let part, let error): "the \(part.rawValue) is not acceptable JSON (\(error))"
        case .criticalExtension: "the header demands an extension that is not supported (crit, b64)"
        case .missingAlgorithm: "the header names no algorithm"
        }
    }
}

/// A JSON Web Signature in compact form (RFC 7515 §3.1), cut into its three segments. Any thread.
///
/// Cutting looks for dots only; each segment is decoded when it is asked for.
public struct CompactJWS: Sendable {
    /// What a JWS may weigh, checked before anything is decoded.
    public struct Limits: Sendable, Equatable {
        /// Whole text in bytes. A genuine transaction has 5 to 6 KB.
        public var maximumBytes: Int
        /// Header segment in bytes of text. Three certificates take about 4 KB.
        public var maximumHeaderBytes: Int
        /// Sets both limits; the defaults are those the whole system uses.
        public init(maximumBytes: Int = 64 << 10, maximumHeaderBytes: Int = 16 << 10) {
            self.maximumBytes = maximumBytes
            self.maximumHeaderBytes = maximumHeaderBytes
        }
    }

    /// The whole text.
    public let bytes: [UInt8]
    private let headerEnd: Int
    private let payloadEnd: Int

    /// Cuts `bytes` at its two dots.
    public init(_ bytes: [UInt8], limits: Limits = Limits()) throws(JWSError) {
        guard bytes.count <= limits.maximumBytes else { throw .tooLarge(limit: limits.maximumBytes) }
        let dots = bytes.withUnsafeBytes { Self.dots(in: $0) }
        guard let first = dots.first, let second = dots.second, dots.count == 2 else {
            throw .segmentCount(bytes.isEmpty ? 0 : dots.count + 1)
        }
        guard first > 0 else { throw .emptySegment(.header) }
        guard second > first + 1 else { throw .emptySegment(.payload) }
        guard second + 1 < bytes.count else { throw .emptySegment(.signature) }
        guard first <= limits.maximumHeaderBytes else { throw .tooLarge(limit: limits.maximumHeaderBytes) }
        self.bytes = bytes
        headerEnd = first
        payloadEnd = second
    }

    /// Found by `memchr`, which looks at many bytes at once: the header alone has thousands.
    private static func dots(in bytes: UnsafeRawBufferPointer) -> (first: Int?, second: Int?, count: Int) {
        guard let base = bytes.baseAddress else { return (nil, nil, 0) }
        var found: (first: Int?, second: Int?, count: Int) = (nil, nil, 0)
        var start = 0
        while start < bytes.count,
            let dot = memchr(base + start, Int32(UInt8(ascii: ".")), bytes.count - start)
        {
            let index = UnsafeRawPointer(dot) - base
            found.count += 1
            if found.count == 1 { found.first = index } else if found.count == 2 { found.second = index }
            start = index + 1
        }
        return found
    }

    /// The header as it was sent.
    public var headerSegment: ArraySlice<UInt8> { bytes[0..<headerEnd] }
    /// The payload as it was sent.
    public var payloadSegment: ArraySlice<UInt8> { bytes[headerEnd + 1..<payloadEnd] }
    /// The signature as it was sent.
    public var signatureSegment: ArraySlice<UInt8> { bytes[(payloadEnd + 1)...] }
    /// What was signed: header, dot, payload.
    public var signingInput: ArraySlice<UInt8> { bytes[0..<payloadEnd] }

    /// The header's members, with the rules every JWS has to keep: `alg` is a text, nothing critical.
    public func decodeHeader() throws(JWSError) -> JSONObject {
        guard let text = Base64URL.decode(headerSegment) else { throw .invalidBase64URL(.header) }
        let header: JSONObject
        do {
            header = try JSONReader.parseObject(text)
        } catch {
            throw .invalidJSON(.header, error)
        }
        guard header["crit"] == nil else { throw .criticalExtension }
        if let unencoded = header["b64"], unencoded != .bool(true) { throw .criticalExtension }
        guard case .string = header["alg"] else { throw .missingAlgorithm }
        return header
    }

    /// The payload's bytes.
    public func decodePayload() throws(JWSError) -> [UInt8] {
        guard let payload = Base64URL.decode(payloadSegment) else { throw .invalidBase64URL(.payload) }
        return payload
    }

    /// The signature's bytes.
    public func decodeSignature() throws(JWSError) -> [UInt8] {
        guard let signature = Base64URL.decode(signatureSegment) else { throw .invalidBase64URL(.signature) }
        return signature
    }

    /// The exact text again, from its header as sent and the bytes of the rest: decoding is canonical.
    public static func assemble(headerSegment: [UInt8], payload: [UInt8], signature: [UInt8]) -> [UInt8] {
        var text = headerSegment
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(payload)
        text.append(UInt8(ascii: "."))
        text += Base64URL.encode(signature)
        return text
    }
}
