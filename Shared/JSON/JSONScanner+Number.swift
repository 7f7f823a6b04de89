extension JSONScanner {
    /// A number by RFC 8259 §6; `position` is at its first byte.
    mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        let firstDigit = position
        // Accumulated as a negative number, because only then every Int64 fits.
        var negated: Int64 = 0
        var fits = true
        while position < end, let digit = digit(base[position]) {
            let (product, isTooLarge) = negated.multipliedReportingOverflow(by: 10)
            let (difference, isTooLow) = product.subtractingReportingOverflow(Int64(digit))
            if isTooLarge || isTooLow { fits = false }
            negated = difference
            position += 1
        }
        guard position > firstDigit else { throw invalidNumber() }
        if base[firstDigit] == UInt8(ascii: "0"), position > firstDigit + 1 {
            throw JSONError(.invalidNumber, offset: firstDigit + 1)
        }
        if position < end, base[position] == UInt8(ascii: ".") || base[position] | 0x20 == UInt8(ascii: "e") {
            try fractionAndExponent()
            return .number(numberText(from: start))
        }
        guard fits, !(isNegative && negated == 0) else { return .number(numberText(from: start)) }
        if isNegative { return .integer(negated) }
        let (value, isTooLarge) = Int64.zero.subtractingReportingOverflow(negated)
        return isTooLarge ? .number(numberText(from: start)) : .integer(value)
    }

    private mutating func fractionAndExponent() throws(JSONError) {
        if take(UInt8(ascii: ".")) { try digits() }
        if position < end, base[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while position < end, digit(base[position]) != nil { position += 1 }
        guard position > start else { throw invalidNumber() }
    }

    @inline(__always)
    private func digit(_ byte: UInt8) -> UInt8? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }

    private func numberText(from start: Int) -> JSONNumber {
        let bytes = UnsafeBufferPointer(start: base + start, count: position - start)
        return JSONNumber(validated: String(decoding: bytes, as: UTF8.self))
    }

    private func invalidNumber() -> JSONError {
        JSONError(position < end ? .invalidNumber : .unexpectedEnd, offset: position)
    }
}
