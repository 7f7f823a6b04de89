/// A request target in origin form, decoded strictly (RFC 3986, RFC 9112 §3.2.1).
package struct RequestTarget {
    /// Starts with `/`.
    package let path: String
    /// In order.
    package let query: [(name: String, value: String)]

    /// More parameters than this are no query of any client of ours.
    private static let maximumParameters = 64

    /// Decodes the bytes between the method and the version.
    ///
    /// Refused: everything that is not an absolute path (absolute form, `*`), bytes that must be percent-encoded, bad
    /// escapes, invalid UTF-8, control characters (so `%00` never reaches a handler), dot segments and encoded slashes.
    static func parse(_ bytes: some Collection<UInt8>) throws(HTTPFailure) -> RequestTarget {
        guard bytes.first == UInt8(ascii: "/") else { throw .malformedRequest(.target) }
        for byte in bytes {
            guard (0x21...0x7E).contains(byte), !isDelimiter(byte) else { throw .malformedRequest(.target) }
        }
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        let path = try decode(bytes[..<(mark ?? bytes.endIndex)], isPath: true)
        for segment in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
        where segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
            throw .malformedRequest(.decodedTarget)
        }
        guard let mark else { return RequestTarget(path: path, query: []) }
        return RequestTarget(path: path, query: try parameters(bytes[bytes.index(after: mark)...]))
    }

    /// Bytes that RFC 3986 allows nowhere, and the fragment mark, which a client must not send.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "#"), UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    private static func parameters(
        _ bytes: some Collection<UInt8>
    ) throws(HTTPFailure) -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            guard result.count < maximumParameters else { throw .malformedRequest(.target) }
            let equals = part.firstIndex(of: UInt8(ascii: "="))
            let name = try decode(part[..<(equals ?? part.endIndex)], isPath: false)
            var value = ""
            if let equals { value = try decode(part[part.index(after: equals)...], isPath: false) }
            result.append((name, value))
        }
        return result
    }

    private static func decode(_ bytes: some Collection<UInt8>, isPath: Bool) throws(HTTPFailure) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var iterator = bytes.makeIterator()
        while var byte = iterator.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = iterator.next().flatMap(ASCII.hexDigit),
                    let low = iterator.next().flatMap(ASCII.hexDigit)
                else { throw .malformedRequest(.percentEncoding) }
                byte = high << 4 | low
                // An encoded slash is a slash for one program and none for the next.
                if isPath && byte == UInt8(ascii: "/") { throw .malformedRequest(.decodedTarget) }
            } else if !isPath && byte == UInt8(ascii: "+") {
                byte = UInt8(ascii: " ")
            }
            guard byte >= 0x20, byte != 0x7F else { throw .malformedRequest(.decodedTarget) }
            decoded.append(byte)
        }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .malformedRequest(.decodedTarget) }
        return text
    }
}
