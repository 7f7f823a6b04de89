/// The days of a month before today, UTC.
struct MonthClock: Sendable {
    /// Midnight that began today (s since 1970).
    let midnight: Int64

    private static let day: Int64 = 86_400

    /// - Parameter now: ms since 1970.
    init(now: Int64) { midnight = now / 1_000 / Self.day * Self.day }

    /// `2026-11-30`, so many days ago.
    func date(daysAgo: Int) -> String {
        String(UTCText.format(midnight - Int64(daysAgo) * Self.day).prefix(10))
    }

    /// `11/30/2026`, as Apple's reports write it.
    func reportDate(daysAgo: Int) -> String {
        let parts = date(daysAgo: daysAgo).split(separator: "-")
        return "\(parts[1])/\(parts[2])/\(parts[0])"
    }

    /// An instant of a day (ms since 1970).
    func time(daysAgo: Int, second: Int64) -> Int64 { (midnight - Int64(daysAgo) * Self.day + second) * 1_000 }
}
