import Observability

/// What the journal counts.
struct JournalMetrics: Sendable {
    let recorded: Counter
    let repeated: Counter
    let unreadable: Counter
    let active: Gauge
    let offset: Gauge
    let lag: Gauge

    init(_ metrics: Metrics) {
        recorded = metrics.counter(
            "purser_reconciliation_facts_recorded_total", help: "Facts of the stream put into the journal, each once.")
        repeated = metrics.counter(
            "purser_reconciliation_facts_repeated_total", help: "Facts that were in the journal already.")
        unreadable = metrics.counter(
            "purser_reconciliation_facts_unreadable_total", help: "Messages of the stream that are no facts.")
        active = metrics.gauge(
            "purser_reconciliation_journal_active", help: "1 in the one copy that reads the stream, 0 in all others.")
        offset = metrics.gauge(
            "purser_reconciliation_journal_offset", help: "The place of the stream at which reading goes on.")
        lag = metrics.gauge(
            "purser_reconciliation_journal_lag_seconds", help: "Age of the newest fact when it was recorded.")
    }
}
