import AppStore
import Messages
import Observability

/// What Intake counts.
struct IntakeMetrics: Sendable {
    let seconds: Histogram
    let repeated: Counter
    let postponed: Counter
    let misaddressed: Counter
    let redriven: Counter
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        seconds = metrics.histogram(
            "purser_intake_verification_seconds", help: "Time to judge one notification with all that is inside it.",
            buckets: Histogram.latencySeconds)
        repeated = metrics.counter(
            "purser_intake_repeated_total", help: "Notifications that were stored already: Apple repeats itself.")
        postponed = metrics.counter(
            "purser_intake_postponed_total", help: "Notifications that could not be judged now: a clock is wrong.")
        misaddressed = metrics.counter(
            "purser_intake_misaddressed_total",
            help: "Genuine notifications of one app of ours that came to the address of another.")
        redriven = metrics.counter(
            "purser_intake_redriven_total", help: "Stored notifications told again because somebody asked for it.")
        // From the start, so that an alert can watch for a rise.
        _ = stored(.notificationUnrecognised)
    }

    /// Notifications stored, by what they are told as: a closed set. `notification.unrecognised` is worth an alert.
    func stored(_ type: MessageType) -> Counter {
        metrics.counter(
            "purser_intake_stored_total", help: "Notifications stored, each once, by type.",
            labels: ["type": type.rawValue])
    }

    /// Refusals by their stable reason: a closed set.
    func refused(_ reason: String) -> Counter {
        metrics.counter(
            "purser_intake_refused_total", help: "Notifications put into quarantine, by reason.",
            labels: ["reason": reason])
    }

    /// Apple rotates its signers about every two years, without notice.
    func note(_ signer: SignerInfo, now: Int64) {
        let expiry = metrics.gauge(
            "purser_intake_signer_expiry_days", help: "Days until the last seen signer's chain expires.")
        expiry.set(Double(signer.validUntil - now / 1_000) / 86_400)
    }
}
