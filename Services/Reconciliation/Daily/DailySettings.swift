import Service

/// How the daily run is made.
struct DailySettings: Sendable {
    /// After an app's midnight (ms): what was bought last must have been decided and written down by then.
    let delay: Int64
    /// Days a report is kept.
    let reportDays: Int64
    /// Days the single purchases of a run are kept.
    let lineDays: Int64
}

extension DailySettings {
    /// Reads them.
    init(_ reader: inout SettingsReader) {
        delay =
            60_000
            * Int64(
                reader.integer(
                    "DAILY_MINUTES", default: 15, in: 1...1_440,
                    meaning: "minutes after an app's midnight at which its day is compared"))
        reportDays = Int64(
            reader.integer("REPORT_DAYS", default: 400, in: 1...3_650, meaning: "days that daily reports are kept"))
        lineDays = Int64(
            reader.integer(
                "LINE_DAYS", default: 62, in: 1...3_650, meaning: "days that the purchases of a daily run are kept"))
    }
}
