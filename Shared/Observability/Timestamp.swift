import Glibc

/// Wall-clock time as operators read it.
enum Timestamp {
    /// Milliseconds since 1970-01-01T00:00:00Z, now.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// RFC 3339 in UTC with three fraction digits, `2026-11-30T09:05:07.042Z`. Years beyond 9999 come out longer.
    static func format(millisecondsSince1970 milliseconds: Int64) -> String {
        let millisecondsOfDay = milliseconds.flooredRemainder(86_400_000)
        let date = civil(daysSince1970: (milliseconds - millisecondsOfDay) / 86_400_000)
        let second = millisecondsOfDay / 1_000
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
            + "T\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
            + ".\(padded(millisecondsOfDay % 1_000, 3))Z"
    }

    /// The Gregorian date of a day number. The year is counted from March 1st so that the leap day is its last day, and
    /// days are grouped in eras of 400 years (146,097 days), after which the calendar repeats.
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468  // days from 0000-03-01 to 1970-01-01
        let dayOfEra = shifted.flooredRemainder(146_097)
        let era = (shifted - dayOfEra) / 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153  // 0 = March; months from March repeat 31, 30, 31, 30, 31
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

extension Int64 {
    /// The remainder of the division rounded towards minus infinity: never negative for a positive divisor.
    fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
