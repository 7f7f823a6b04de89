/// The dates inside receipts: RFC 3339, in practice `2026-11-30T12:34:56Z`.
enum ReceiptDate {
    /// Milliseconds since 1970; nil if it is no such date. Fractions are cut after the third digit.
    static func milliseconds(_ text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4), skip(&rest, "-"), let month = number(&rest, 2), skip(&rest, "-"),
            let day = number(&rest, 2), skip(&rest, "T") || skip(&rest, "t") || skip(&rest, " "),
            let hour = number(&rest, 2), skip(&rest, ":"), let minute = number(&rest, 2), skip(&rest, ":"),
            let second = number(&rest, 2)
        else { return nil }
        guard (1...12).contains(month), day >= 1, day <= days(of: month, in: year), hour <= 23, minute <= 59,
            second <= 60, let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty
        else { return nil }
        let time = days(until: year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return time * 1_000 + fraction
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: Int) -> Int64? {
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(digits) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(digits)
        return value
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, _ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard skip(&rest, ".") else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // More digits than nanoseconds have mean something else.
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        var three = (Array(digits) + Array("00".utf8)).prefix(3)[...]
        return number(&three, 3)
    }

    /// Seconds east of UTC.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        if skip(&rest, "Z") || skip(&rest, "z") { return 0 }
        let isWest = skip(&rest, "-")
        guard isWest || skip(&rest, "+"), let hours = number(&rest, 2), skip(&rest, ":"),
            let minutes = number(&rest, 2), hours <= 23, minutes <= 59
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
    }

    private static func days(of month: Int64, in year: Int64) -> Int64 {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days from 1970-01-01, counted in eras of 400 years that begin on 1 March.
    private static func days(until year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
