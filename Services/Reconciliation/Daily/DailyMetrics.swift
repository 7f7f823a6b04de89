import Observability

/// What the daily run counts.
struct DailyMetrics: Sendable {
    let runs: Counter
    let failures: Counter
    let purchases: Counter
    let seconds: Gauge
    let last: Gauge

    init(_ metrics: Metrics) {
        runs = metrics.counter("purser_reconciliation_daily_runs_total", help: "Daily runs made, of any app and day.")
        failures = metrics.counter(
            "purser_reconciliation_daily_failures_total", help: "Daily runs broken off, to go on later.")
        purchases = metrics.counter(
            "purser_reconciliation_daily_purchases_total", help: "Purchases that daily runs have compared.")
        seconds = metrics.gauge("purser_reconciliation_daily_seconds", help: "Time of the last daily run.")
        last = metrics.gauge(
            "purser_reconciliation_last_daily_seconds", help: "When the last daily run ended (s since 1970).")
    }
}
