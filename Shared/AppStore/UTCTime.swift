/// Times for people, without Foundation.
public enum UTCTime {
    /// `2026-11-30T12:34:56Z` for seconds since 1970 (proleptic Gregorian calendar).
    public static func text(_ seconds: Int64) -> String {
        // Certificates and payloads stay far inside these years; others are shown as a number.
        guard (-62_135_596_800...253_402_300_799).contains(seconds) else { return "\(seconds) s" }
        let days = (Double(seconds) / 86400).rounded(.down)
        let rest = seconds - Int64(days) * 86400
        let (year, month, day) = civil(Int64(days))
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(rest / 3600, 2)):\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))Z"
    }

    /// Date of a day number, counted in eras of 400 years that begin on 1 March.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468  // Days from 0000-03-01 to 1970-01-01.
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
