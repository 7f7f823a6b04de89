/// The shared engine of both base64 forms (RFC 4648): an alphabet, and whether padding is written.
///
/// Decoding is canonical: exactly one text stands for a byte string, everything else is refused.
struct Base64Alphabet: Sendable {
    /// Marks a byte that is no digit.
    private static let invalid: UInt8 = 0xff

    private let digits: [UInt8]
    private let values: [UInt8]
    private let isPadded: Bool

    /// `last` are the digits for 62 and 63.
    init(last: String, isPadded: Bool) {
        let text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last
        digits = Array(text.utf8)
        var values = [UInt8](repeating: Self.invalid, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        self.values = values
        self.isPadded = isPadded
    }

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index + 3 <= bytes.count {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            for shift in stride(from: UInt32(18), through: 0, by: -6) { text.append(digits[Int(group >> shift & 63)]) }
            index += 3
        }
        let rest = bytes.count - index
        if rest > 0 {
            let second = rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0
            let group = UInt32(bytes[index]) << 16 | second
            text.append(digits[Int(group >> 18 & 63)])
            text.append(digits[Int(group >> 12 & 63)])
            if rest == 2 { text.append(digits[Int(group >> 6 & 63)]) }
            if isPadded { text += [UInt8](repeating: UInt8(ascii: "="), count: 3 - rest) }
        }
        return text
    }

    func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        text.withUnsafeBufferPointer { characters in
            values.withUnsafeBufferPointer { decode(characters, values: $0) }
        }
    }

    private func decode(_ characters: UnsafeBufferPointer<UInt8>, values: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let count = digitCount(characters) else { return nil }
        let rest = count & 3
        guard rest != 1 else { return nil }
        let size = count / 4 * 3 + (rest == 0 ? 0 : rest - 1)
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, written in
            var collected: UInt8 = 0  // The top bits are set only by the mark of an invalid digit.
            var position = 0
            for index in stride(from: 0, to: count - rest, by: 4) {
                let first = values[Int(characters[index])]
                let second = values[Int(characters[index + 1])]
                let third = values[Int(characters[index + 2])]
                let fourth = values[Int(characters[index + 3])]
                collected |= first | second | third | fourth
                output[position] = first << 2 | second >> 4
                output[position + 1] = second << 4 | third >> 2
                output[position + 2] = third << 6 | fourth
                position += 3
            }
            if rest > 0 {
                let first = values[Int(characters[count - rest])]
                let second = values[Int(characters[count - rest + 1])]
                let third = rest == 3 ? values[Int(characters[count - 1])] : 0
                collected |= first | second | third
                output[position] = first << 2 | second >> 4
                if rest == 3 { output[position + 1] = second << 4 | third >> 2 }
                // The bits that no byte uses must be zero, or two texts would mean the same.
                isValid = rest == 3 ? third & 0b11 == 0 : second & 0b1111 == 0
            }
            isValid = isValid && collected & 0xc0 == 0
            written = isValid ? size : 0
        }
        return isValid ? bytes : nil
    }

    /// Digits without padding, or nil where padding is missing, superfluous or forbidden.
    private func digitCount(_ characters: UnsafeBufferPointer<UInt8>) -> Int? {
        guard isPadded else { return characters.count }
        guard characters.count.isMultiple(of: 4) else { return nil }
        var count = characters.count
        while count > 0, characters.count - count < 2, characters[count - 1] == UInt8(ascii: "=") { count -= 1 }
        return count
    }
}
