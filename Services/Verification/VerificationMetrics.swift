import AppStore
import Observability

/// What Verification counts.
struct VerificationMetrics {
    let seconds: Histogram
    let verified: Counter
    let postponed: Counter
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        seconds = metrics.histogram(
            "purser_verification_seconds", help: "Time to judge one signed transaction.",
            buckets: Histogram.latencySeconds)
        verified = metrics.counter(
            "purser_verification_verified_total", help: "Signed transactions found genuine.")
        postponed = metrics.counter(
            "purser_verification_postponed_total", help: "Submissions that could not be judged now: a clock is wrong.")
    }

    /// Refusals by their stable reason: a closed set.
    func refused(_ reason: String) -> Counter {
        metrics.counter(
            "purser_verification_refused_total", help: "Submissions refused, by reason.", labels: ["reason": reason])
    }

    /// Apple rotates its signers about every two years, without notice. The gauge exists from the first transaction on:
    /// before that there is nothing to tell.
    func note(_ signer: SignerInfo, now: Int64) {
        let expiry = metrics.gauge(
            "purser_verification_signer_expiry_days", help: "Days until the last seen signer's chain expires.")
        expiry.set(Double(signer.validUntil - now / 1_000) / 86_400)
    }
}
