/// The one strict reader of JSON: request bodies, JOSE headers, Apple's payloads.
///
/// RFC 8259 with the restrictions of RFC 7493 and a few of our own: it refuses duplicate keys, invalid UTF-8, lone
/// surrogates, `\u0000`, a byte order mark, trailing bytes, and whatever exceeds `JSONLimits`. One pass over the bytes,
/// recursion bounded by the depth limit, no state: callable from any thread.
public enum JSONReader {
    /// Reads one JSON text.
    ///
    /// - Throws: `JSONError` with the byte offset at which the text stops being acceptable.
    public static func parse(
        _ bytes: [UInt8], limits: JSONLimits = .default
    ) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> JSONValue in
            try parse(buffer, limits: limits)
        }
    }

    /// Reads one JSON text from a slice without copying it; offsets of errors count from the slice's start.
    public static func parse(
        _ bytes: ArraySlice<UInt8>, limits: JSONLimits = .default
    ) throws(JSONError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) -> JSONValue in
            try parse(buffer, limits: limits)
        }
    }

    /// Reads one JSON text whose value must be an object.
    public static func parseObject(
        _ bytes: [UInt8], limits: JSONLimits = .default
    ) throws(JSONError) -> JSONObject {
        guard case .object(let object) = try parse(bytes, limits: limits) else {
            throw JSONError(.wrongType, path: "")
        }
        return object
    }

    private static func parse(
        _ buffer: UnsafeBufferPointer<UInt8>, limits: JSONLimits
    ) throws(JSONError) -> JSONValue {
        guard buffer.count <= limits.maximumBytes else {
            throw JSONError(.tooLarge, offset: limits.maximumBytes)
        }
        guard let base = buffer.baseAddress, buffer.count > 0 else { throw JSONError(.unexpectedEnd, offset: 0) }
        var scanner = JSONScanner(base: base, end: buffer.count, limits: limits)
        return try scanner.document()
    }
}
