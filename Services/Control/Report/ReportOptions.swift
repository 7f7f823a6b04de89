/// What `purser report` was asked.
struct ReportOptions: Equatable {
    static let usage = """
        usage: purser report --date YYYY-MM-DD [--app APP] [--format md|html] [--purchases]
               purser report --date YYYY-MM-DD --live [--offset +HH:MM] [--app APP] [--purchases]

        The report that the daily run has stored of a day, by the clock of the app: `purser reconcile` makes it anew.

          --format     md, or html for one page that needs nothing else (of one app)
          --live       from the books as they are now: what was granted, held, taken back and spent, refunds that Apple
                       told late, findings; of days that the journal keeps
          --offset     the day's clock for --live: hours and minutes ahead of UTC; +00:00 without it
          --purchases  every purchase of the day with what became of it
        """

    /// The day, as it was written.
    let date: String
    /// The clock, as it was written.
    let offset: String
    /// Only of this app.
    let app: String?
    /// What a stored report is printed as.
    let format: StoredReport.Format
    /// Whether the books are asked now.
    let isLive: Bool
    /// Whether every purchase is listed.
    let listsPurchases: Bool
    /// From here (ms since 1970).
    let from: Int64
    /// Up to here, without it.
    let to: Int64

    /// A day in ms. Days of 23 and 25 hours are days of places; this one is of an offset.
    private static let day: Int64 = 86_400_000

    init(_ arguments: [String]) throws(WordProblem) {
        let words = try CommandWords(
            arguments, values: ["--date", "--offset", "--app", "--format"], flags: ["--purchases", "--live"])
        guard words.plain.isEmpty else { throw WordProblem(text: "\(words.plain[0]) is no option") }
        date = try words.required("--date")
        offset = words["--offset"] ?? "+00:00"
        app = words["--app"]
        isLive = words.has("--live")
        guard isLive || words["--offset"] == nil else { throw WordProblem(text: "--offset is for --live") }
        guard let format = StoredReport.Format(rawValue: words["--format"] ?? "md"),
            !isLive || words["--format"] == nil
        else {
            throw WordProblem(text: "--format is md or html, of a stored report")
        }
        self.format = format
        listsPurchases = words.has("--purchases")
        guard date.utf8.count == 10, let start = TimeText.seconds(date + "T00:00:00Z") else {
            throw WordProblem(text: "--date is a day like 2026-11-30")
        }
        guard let ahead = Self.seconds(of: offset) else { throw WordProblem(text: "--offset is like +08:00") }
        from = (start - ahead) * 1_000
        to = from + Self.day
    }

    private static func seconds(of offset: String) -> Int64? {
        let digits = Array(offset.utf8)
        guard digits.count == 6, digits[3] == UInt8(ascii: ":"), let hours = Int64(offset.dropFirst().prefix(2)),
            let minutes = Int64(offset.suffix(2)), (0...14).contains(hours), (0...59).contains(minutes)
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        switch digits[0] {
        case UInt8(ascii: "+"): return seconds
        case UInt8(ascii: "-"): return -seconds
        default: return nil
        }
    }
}
