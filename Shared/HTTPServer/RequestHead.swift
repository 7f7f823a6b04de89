/// What the event loop found in a request's head, before anything of it is believed.
package struct RawHead {
    /// As written.
    package var method: [UInt8]
    /// As written.
    package var target: [UInt8]
    /// `HTTP/1.1` and the like.
    package var version: String
    /// As written, values trimmed or not.
    package var fields: [(name: [UInt8], value: [UInt8])]
    /// Bytes of the whole head.
    package var size: Int
    /// Whether the parts lie one after the other in the buffer with exactly one separator between them, see
    /// `HeadLayout`.
    package var isContiguous: Bool

    /// Composes a head.
    package init(
        method: [UInt8], target: [UInt8], version: String, fields: [(name: [UInt8], value: [UInt8])], size: Int,
        isContiguous: Bool
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
        self.size = size
        self.isContiguous = isContiguous
    }
}

/// A head that was checked: RFC 9112 without its tolerances, so that no proxy in front can read it differently.
package struct RequestHead {
    /// How the end of the body is told.
    package enum Framing: Equatable {
        /// There is no body.
        case none
        /// By its length in bytes.
        case length(Int)
        /// By a last chunk.
        case chunked
    }

    /// A token.
    package let method: String
    /// Decoded.
    package let target: RequestTarget
    /// In order, values trimmed.
    package let headers: [(name: String, value: String)]
    /// Unambiguous.
    package let framing: Framing

    /// No method of any registry is longer.
    private static let longestMethod = 32
    /// Fifteen digits are a petabyte and always fit an Int.
    private static let longestLength = 15

    /// Checks a raw head.
    package init(_ raw: RawHead, headerLimit: Int, fieldLimit: Int) throws(HTTPFailure) {
        guard raw.size <= headerLimit, raw.fields.count <= fieldLimit else { throw .headersTooLarge }
        guard raw.version == "HTTP/1.1" || raw.version == "HTTP/1.0" else { throw .unsupportedVersion }
        guard raw.isContiguous else { throw .malformedRequest(.ambiguousHead) }
        guard ASCII.isToken(raw.method), raw.method.count <= Self.longestMethod else {
            throw .malformedRequest(.method)
        }
        method = String(decoding: raw.method, as: UTF8.self)
        target = try RequestTarget.parse(raw.target)
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(raw.fields.count)
        for field in raw.fields {
            guard ASCII.isToken(field.name), let value = Self.fieldValue(field.value) else {
                throw .malformedRequest(.header)
            }
            headers.append((String(decoding: field.name, as: UTF8.self), value))
        }
        self.headers = headers
        try Self.checkHost(Self.values("host", in: headers))
        framing = try Self.framing(headers, isOldVersion: raw.version == "HTTP/1.0")
        for value in Self.values("content-encoding", in: headers)
        where !ASCII.equalIgnoringCase(value, "identity") {
            throw .unsupportedContentEncoding
        }
    }

    private static func values(_ name: String, in headers: [(name: String, value: String)]) -> [String] {
        headers.filter { ASCII.equalIgnoringCase($0.name, name) }.map(\.value)
    }

    /// The value without white space around it, or nil if it has control characters or is no UTF-8.
    private static func fieldValue(_ bytes: [UInt8]) -> String? {
        var slice = bytes[...]
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        guard slice.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else { return nil }
        return String(validating: slice, as: UTF8.self)
    }

    /// Exactly one `Host`, of the bytes a name, an address or a port can have.
    private static func checkHost(_ values: [String]) throws(HTTPFailure) {
        guard values.count == 1, let host = values.first, !host.isEmpty, host.utf8.count <= 255 + 6,
            host.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["),
                    UInt8(ascii: "]"):
                    true
                default: false
                }
            })
        else { throw .malformedRequest(.host) }
    }

    /// How long the body is. Conflicts are refused instead of resolved: that is how requests are smuggled.
    private static func framing(
        _ headers: [(name: String, value: String)], isOldVersion: Bool
    ) throws(HTTPFailure) -> Framing {
        let encodings = values("transfer-encoding", in: headers)
        let lengths = values("content-length", in: headers)
        if !encodings.isEmpty {
            guard encodings.count == 1, lengths.isEmpty, !isOldVersion,
                ASCII.equalIgnoringCase(encodings[0], "chunked")
            else { throw .malformedRequest(.transferEncoding) }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard lengths.count == 1, !text.isEmpty, text.utf8.count <= longestLength,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text)
        else { throw .malformedRequest(.contentLength) }
        return .length(length)
    }
}
