import Service

/// The settings of answering consumption requests.
struct ConsumptionSettings: Sendable, Equatable {
    /// When what is done.
    let schedule: ConsumptionSchedule
    /// How often the table is looked at (ms).
    let interval: Int

    /// Reads the settings. The defaults are Apple's; tests shorten them.
    init(_ reader: inout SettingsReader) {
        var schedule = ConsumptionSchedule()
        func seconds(_ name: String, _ value: inout Int64, _ meaning: String) {
            let given = reader.integer(name, default: Int(value / 1_000), in: 1...86_400, meaning: meaning)
            value = Int64(given) * 1_000
        }
        seconds("CONSUMPTION_LIMIT", &schedule.limit, "seconds that Apple waits for an answer: 12 hours")
        seconds("CONSUMPTION_FIRST_ALERT", &schedule.firstAlert, "seconds after which an open request is warned of")
        seconds("CONSUMPTION_SECOND_ALERT", &schedule.secondAlert, "seconds after which it is warned of again")
        seconds("CONSUMPTION_RECHECK", &schedule.recheck, "seconds until consent is asked for again, at first")
        seconds("CONSUMPTION_RETRY", &schedule.retry, "seconds until it is tried again, at first")
        if schedule.firstAlert >= schedule.secondAlert || schedule.secondAlert >= schedule.limit {
            reader.problem(
                "CONSUMPTION_LIMIT", "must be above CONSUMPTION_SECOND_ALERT, and that above CONSUMPTION_FIRST_ALERT")
        }
        self.schedule = schedule
        interval = reader.integer(
            "CONSUMPTION_INTERVAL_MS", default: 1_000, in: 10...60_000,
            meaning: "milliseconds between looks at the open requests")
    }
}
