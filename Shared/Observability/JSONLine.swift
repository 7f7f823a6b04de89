/// Builds one JSON object on one line. Write-only and without nesting: that is all a log line needs, and it keeps this
/// module free of dependencies.
struct JSONLine {
    private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// Appends one member. Text longer than `limit` bytes is cut at a character and marked with `…`.
    mutating func append(_ key: String, _ value: LogValue, limit: Int) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        appendText(key, limit: limit)
        bytes.append(UInt8(ascii: ":"))
        switch value {
        case .string(let text): appendText(text, limit: limit)
        case .int(let number): bytes.append(contentsOf: String(number).utf8)
        case .double(let number): appendNumber(number)
        case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .duration(let span): appendNumber(span.milliseconds)
        }
    }

    /// Closes the object and ends the line.
    consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func appendNumber(_ number: Double) {
        if number.isFinite {
            bytes.append(contentsOf: number.description.utf8)
        } else {
            appendText(number.description, limit: .max)
        }
    }

    private mutating func appendText(_ text: String, limit: Int) {
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        for scalar in text.unicodeScalars {
            guard bytes.count - start < limit else {
                bytes.append(contentsOf: "…".utf8)
                break
            }
            appendScalar(scalar)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Escapes what JSON demands (RFC 8259 §7), and beyond it what a terminal or a line-based reader may act on: DEL,
    /// the C1 controls (U+009B starts an escape sequence), and the line and paragraph separators.
    private mutating func appendScalar(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22: bytes.append(contentsOf: #"\""#.utf8)
        case 0x5C: bytes.append(contentsOf: #"\\"#.utf8)
        case 0x0A: bytes.append(contentsOf: #"\n"#.utf8)
        case 0x0D: bytes.append(contentsOf: #"\r"#.utf8)
        case 0x09: bytes.append(contentsOf: #"\t"#.utf8)
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029:
            let digits = String(scalar.value, radix: 16)
            bytes.append(contentsOf: #"\u"#.utf8)
            bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
            bytes.append(contentsOf: digits.utf8)
        default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
