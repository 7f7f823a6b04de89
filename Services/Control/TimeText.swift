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
