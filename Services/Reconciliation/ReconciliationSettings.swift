import Service

/// The settings of Reconciliation besides the common ones.
struct ReconciliationSettings: Sendable {
    /// Months of the journal that are kept, the current one included.
    let journalMonths: Int
    /// Between two rounds of checks (ms).
    let interval: Int
    /// A verified purchase that is younger may still be on its way (ms).
    let decisionTime: Int64
    /// Purchases held or unclaimed for longer become findings (ms).
    let waitingTime: Int64
    /// When sales reports are said to differ.
    let sales: SalesTolerance
    /// How Apple is asked.
    let apple: AppleSettings
    /// The daily run.
    let daily: DailySettings

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        journalMonths = reader.integer(
            "JOURNAL_MONTHS", default: 14, in: 2...240,
            meaning: "months of the journal that are kept, the current one included")
        interval = reader.integer(
            "INTERVAL_MS", default: 10_000, in: 50...3_600_000, meaning: "milliseconds between two rounds of checks")
        decisionTime =
            1_000
            * Int64(
                reader.integer(
                    "DECISION_SECONDS", default: 120, in: 1...86_400,
                    meaning: "seconds after which a verified purchase must have been decided"))
        waitingTime =
            1_000
            * Int64(
                reader.integer(
                    "WAITING_SECONDS", default: 86_400, in: 1...2_592_000,
                    meaning: "seconds after which a held or unclaimed purchase is a finding"))
        sales = SalesTolerance(&reader)
        apple = AppleSettings(&reader)
        daily = DailySettings(&reader)
    }
}
