/// A day of a calendar without a time zone, as reports name it.
public struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 1900 to 9999.
    public let year: Int
    /// 1 to 12.
    public let month: Int
    /// 1 to the month's last.
    public let day: Int

    /// Nil if there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (1900...9999).contains(year), (1...12).contains(month) else { return nil }
        guard day >= 1, day <= Self.lastDay(of: month, in: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day of `MM/DD/YYYY`, as Apple's sales reports write it, or of `YYYY-MM-DD`; nil if it is neither.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10 else { return nil }
        func number(_ range: Range<Int>) -> Int? { Digits.value(bytes[range]).map(Int.init) }
        if bytes[2] == UInt8(ascii: "/"), bytes[5] == UInt8(ascii: "/") {
            guard let month = number(0..<2), let day = number(3..<5), let year = number(6..<10) else { return nil }
            self.init(year: year, month: month, day: day)
        } else if bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") {
            guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10) else { return nil }
            self.init(year: year, month: month, day: day)
        } else {
            return nil
        }
    }

    /// `YYYY-MM-DD`.
    public var description: String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(padded(month))-\(padded(day))"
    }

    /// Earlier days first.
    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    private static func lastDay(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Whole numbers made of decimal digits alone.
enum Digits {
    /// Nil if there is none, another character, or too many digits for 64 bits.
    static func value(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }
}
