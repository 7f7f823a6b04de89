import Observability

/// What is counted about checks.
struct CheckMetrics: Sendable {
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        // From the start, so that alerts can watch for a rise.
        for name in ["good", "revoked", "unknown", "unreachable", "timeout", "stale"] { _ = checked(name) }
    }

    /// Certificates asked about, by what became of it: a closed set.
    func checked(_ outcome: String) -> Counter {
        metrics.counter(
            "purser_verification_revocation_checks_total",
            help: "Questions whether a certificate is revoked, by what became of them.", labels: ["outcome": outcome])
    }
}
