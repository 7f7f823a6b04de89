extension JSONScanner {
    /// The rest of a string; `position` is after its opening quote.
    mutating func string() throws(JSONError) -> String {
        let start = position
        while true {
            skipPlainASCII()
            guard position < end else { throw JSONError(.unexpectedEnd, offset: end) }
            switch base[position] {
            case UInt8(ascii: "\""):
                let text = text(from: start)
                position += 1
                return text
            case UInt8(ascii: "\\"):
                return try escapedString(from: start)
            case 0x80...:
                try skipMultibyte()
            default:
                throw JSONError(.controlCharacter, offset: position)
            }
        }
    }

    /// Advances to the first byte that is a quote, a backslash, a control character or not ASCII, eight at a time.
    @inline(__always)
    private mutating func skipPlainASCII() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        while position + 8 <= end {
            let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            // The classic zero-byte test: (x - 1) & ~x & 0x80 per byte, for x = word ^ byte and for word < 0x20.
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found =
                word | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
                | ((word &- ones &* 0x20) & ~word)
            if found & high != 0 { break }
            position += 8
        }
        while position < end {
            let byte = base[position]
            if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
            position += 1
        }
    }

    /// Validates one multi-byte sequence by table 3-7 of the Unicode standard and advances over it.
    private mutating func skipMultibyte() throws(JSONError) {
        let lead = base[position]
        let count: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: count = 2
        case 0xE0: (count, second) = (3, 0xA0...0xBF)
        case 0xED: (count, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: count = 3
        case 0xF0: (count, second) = (4, 0x90...0xBF)
        case 0xF4: (count, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: count = 4
        default: throw JSONError(.invalidUTF8, offset: position)
        }
        guard position + count <= end, second.contains(base[position + 1]) else {
            throw JSONError(.invalidUTF8, offset: position)
        }
        for index in 2..<max(count, 2) where base[position + index] & 0xC0 != 0x80 {
            throw JSONError(.invalidUTF8, offset: position)
        }
        position += count
    }

    /// The slow path: from the first backslash on, the text is collected in a buffer.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var bytes = Array(UnsafeBufferPointer(start: base + start, count: position - start))
        while true {
            guard position < end else { throw JSONError(.unexpectedEnd, offset: end) }
            switch base[position] {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try appendEscape(to: &bytes)
            case ..<0x20:
                throw JSONError(.controlCharacter, offset: position)
            default:
                let run = position
                if base[position] < 0x80 { skipPlainASCII() } else { try skipMultibyte() }
                bytes.append(contentsOf: UnsafeBufferPointer(start: base + run, count: position - run))
            }
        }
    }

    private mutating func appendEscape(to bytes: inout [UInt8]) throws(JSONError) {
        let start = position
        guard position + 1 < end else { throw JSONError(.unexpectedEnd, offset: end) }
        let byte = base[position + 1]
        position += 2
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes.append(contentsOf: String(try unicodeEscape(from: start)).utf8)
        default: throw JSONError(.invalidEscape, offset: start)
        }
    }

    /// The scalar of `\uXXXX` or of a surrogate pair; `position` is after the `u`, `start` at the backslash.
    private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Character {
        let unit = try hexUnit(escape: start)
        guard unit != 0 else { throw JSONError(.nulCharacter, offset: start) }
        if let scalar = Unicode.Scalar(UInt32(unit)) { return Character(scalar) }
        let secondStart = position
        guard unit < 0xDC00, position + 1 < end, base[position] == UInt8(ascii: "\\"),
            base[position + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, offset: start) }
        position += 2
        let low = try hexUnit(escape: secondStart)
        guard 0xDC00...0xDFFF ~= low else { throw JSONError(.loneSurrogate, offset: start) }
        let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(low & 0x3FF))
        guard let scalar = Unicode.Scalar(value) else { throw JSONError(.loneSurrogate, offset: start) }
        return Character(scalar)
    }

    private mutating func hexUnit(escape start: Int) throws(JSONError) -> UInt16 {
        guard position + 4 <= end else { throw JSONError(.unexpectedEnd, offset: end) }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            let byte = base[position]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONError(.invalidEscape, offset: start)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    @inline(__always)
    private func text(from start: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: base + start, count: position - start), as: UTF8.self)
    }
}
