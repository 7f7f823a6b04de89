/// Instants as text (RFC 3339), in milliseconds since 1970 UTC.
enum RFC3339 {
    private static let dayMilliseconds: Int64 = 86_400_000

    /// `2026-11-30T09:05:07.042Z`. Years beyond 9999 come out longer.
    static func format(_ milliseconds: Int64) -> String {
        let date = civil(milliseconds)
        let rest = ((milliseconds % dayMilliseconds) + dayMilliseconds) % dayMilliseconds
        let second = rest / 1_000
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
            + "T\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
            + ".\(padded(rest % 1_000, 3))Z"
    }

    /// The UTC date as eight digits, `20261130`.
    static func compactDate(_ milliseconds: Int64) -> String {
        let date = civil(milliseconds)
        return padded(date.year, 4) + padded(date.month, 2) + padded(date.day, 2)
    }

    /// The instant of a date-time with `Z` or a numeric offset, years 1970…9999; nil if it is none. Digits beyond
    /// milliseconds are cut off. A leap second (`:60`) is refused: no clock here can tell it.
    static func parse(_ text: String) -> Int64? {
        var reader = Reader(bytes: Array(text.utf8)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T", "t"), let hour = reader.number(2), reader.take(":"),
            let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.bytes.isEmpty,
            year >= 1970, (1...12).contains(month), (1...daysInMonth(month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let dayNumber = days(year, month, day)
        let result = ((dayNumber * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1_000 + fraction
        return result < 0 ? nil : result
    }

    /// Reads a text from left to right.
    private struct Reader {
        var bytes: ArraySlice<UInt8>

        mutating func take(_ choices: Character...) -> Bool {
            guard let byte = bytes.first, choices.contains(where: { $0.asciiValue == byte }) else { return false }
            bytes.removeFirst()
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<digits {
                guard let byte = bytes.first, (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
                bytes.removeFirst()
            }
            return value
        }

        /// Milliseconds; 0 without a fraction; at most nine digits.
        mutating func fraction() -> Int64? {
            guard take(".") else { return 0 }
            let digits = bytes.prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            bytes = bytes.dropFirst(digits.count)
            let three = (Array(digits) + [0x30, 0x30]).prefix(3)
            return three.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Minutes east of UTC.
        mutating func offset() -> Int64? {
            if take("Z", "z") { return 0 }
            let isEast = bytes.first == UInt8(ascii: "+")
            guard take("+", "-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60
            else { return nil }
            return (hours * 60 + minutes) * (isEast ? 1 : -1)
        }
    }

    private static func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }

    /// Days from 1970-01-01. The year begins on March 1st, so that the leap day is its last; the calendar repeats every
    /// 400 years (146,097 days).
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear % 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ milliseconds: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let dayOfUnix = milliseconds >= 0 ? milliseconds / dayMilliseconds : (milliseconds + 1) / dayMilliseconds - 1
        let shifted = dayOfUnix + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
