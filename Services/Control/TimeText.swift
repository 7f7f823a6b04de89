/// Reads and writes times on the command line, without Foundation.
enum TimeText {
    /// Seconds since 1970 of `2026-11-30T12:00:00Z`, or of a plain number; nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        if let number = Int64(text), (-62_135_596_800...253_402_300_799).contains(number) { return number }
        let characters = Array(text.utf8)
        guard characters.count == 20, text.hasSuffix("Z") else { return nil }
        let separators: [(Int, Character)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
        for (position, separator) in separators where characters[position] != separator.asciiValue { return nil }
        var numbers: [Int64] = []
        for (start, length) in [(0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2)] {
            let digits = characters[start..<start + length]
            guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let number = Int64(String(decoding: digits, as: UTF8.self))
            else { return nil }
            numbers.append(number)
        }
        guard (1...12).contains(numbers[1]), (1...31).contains(numbers[2]), numbers[3] < 24, numbers[4] < 60,
            numbers[5] < 60
        else { return nil }
        let days = daysSince1970(year: numbers[0], month: numbers[1], day: numbers[2])
        return days * 86400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
    }

    /// `2026-11-30T12:00:00Z` of seconds since 1970.
    static func text(seconds: Int64) -> String {
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let time = seconds - days * 86_400
        // Days since 1 March of year 0, in eras of 400 years: leap days come last.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = [padded(year, 4), padded(month, 2), padded(day, 2)].joined(separator: "-")
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock)Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Day number in the proleptic Gregorian calendar, counted in eras of 400 years that begin on 1 March.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
