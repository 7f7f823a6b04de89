import Observability

/// What the checks count.
struct CheckMetrics: Sendable {
    let compared: Counter
    let redriven: Counter
    let resolved: Counter
    let seconds: Histogram
    let lastRound: Gauge
    let active: Gauge
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        compared = metrics.counter(
            "purser_reconciliation_compared_total", help: "Verified purchases compared with what was decided.")
        redriven = metrics.counter(
            "purser_reconciliation_redriven_total", help: "Purchases said again because they were never decided.")
        resolved = metrics.counter(
            "purser_reconciliation_resolved_total", help: "Findings that ended because their cause was gone.")
        seconds = metrics.histogram(
            "purser_reconciliation_round_seconds", help: "Time of a round of checks.",
            buckets: Histogram.latencySeconds)
        lastRound = metrics.gauge(
            "purser_reconciliation_last_round_seconds", help: "When the last round ended (s since 1970).")
        active = metrics.gauge(
            "purser_reconciliation_checks_active", help: "1 in the one copy that makes the checks, 0 in all others.")
        note([])
    }

    /// Rounds in which a check could not ask, by check: a closed set.
    func failures(_ check: String) -> Counter {
        metrics.counter(
            "purser_reconciliation_check_failures_total", help: "Checks that could not be made, to be made next time.",
            labels: ["check": check])
    }

    /// Sets the gauges of open findings: every kind and severity, so that what is gone is 0.
    func note(_ counts: [(FindingKind, FindingSeverity, Int)]) {
        for kind in FindingKind.allCases {
            for severity in FindingSeverity.allCases {
                let count = counts.first { $0.0 == kind && $0.1 == severity }?.2 ?? 0
                metrics.gauge(
                    "purser_reconciliation_findings_waiting", help: "Findings that are neither resolved nor accepted.",
                    labels: ["kind": kind.rawValue, "severity": severity.rawValue]
                ).set(count)
            }
        }
    }
}
