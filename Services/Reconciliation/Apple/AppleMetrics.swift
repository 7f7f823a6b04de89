import Messages
import Observability
import ServerAPIAccess

/// What the comparison with Apple counts.
struct AppleMetrics: Sendable {
    let calls: Counter
    let notifications: Counter
    let refunds: Counter
    let accounts: Counter
    let missed: Counter
    let unreadable: Counter
    let lastPass: Gauge
    let waiting: Gauge
    let active: Gauge
    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        calls = metrics.counter(
            "purser_reconciliation_apple_calls_total", help: "Calls of Apple's Server API.")
        notifications = metrics.counter(
            "purser_reconciliation_apple_notifications_total",
            help: "Notifications of Apple's history compared with what came in.")
        refunds = metrics.counter(
            "purser_reconciliation_apple_refunds_total",
            help: "Refunds that Apple listed, compared with what Granting knows.")
        accounts = metrics.counter(
            "purser_reconciliation_apple_accounts_total", help: "Recent buyers about whose refunds Apple was asked.")
        missed = metrics.counter(
            "purser_reconciliation_apple_missed_total",
            help: "What Apple has signed and the books lacked, each once.")
        unreadable = metrics.counter(
            "purser_reconciliation_apple_unreadable_total",
            help: "Answers of Apple with something else.")
        lastPass = metrics.gauge(
            "purser_reconciliation_apple_last_pass_seconds",
            help: "When the last comparison with Apple ended (s since 1970).")
        waiting = metrics.gauge(
            "purser_reconciliation_apple_feeds_waiting", help: "What was missed and is not in the books yet.")
        active = metrics.gauge(
            "purser_reconciliation_apple_active", help: "1 in the one copy that asks Apple, 0 in all others.")
    }

    /// Calls that failed, by Purser's name of the failure: a closed set.
    func failures(_ code: String) -> Counter {
        metrics.counter(
            "purser_reconciliation_apple_failures_total", help: "Calls of Apple's Server API that failed.",
            labels: ["code": code])
    }

    /// Seconds of Apple's history that are not compared yet, by place: the settings name them all.
    func gap(_ place: ServerAPIClients.Place) -> Gauge {
        metrics.gauge(
            "purser_reconciliation_apple_gap_seconds",
            help: "Age of the oldest notification of Apple that may not have been compared yet.",
            labels: [
                "app": place.app.rawValue, "environment": place.environment.rawValue, "bundle_id": place.bundleID,
            ])
    }

    /// Seconds that the recent buyer who has waited longest is past their turn to be asked about.
    func wait(_ place: ServerAPIClients.Place) -> Gauge {
        metrics.gauge(
            "purser_reconciliation_apple_turn_seconds",
            help: "How far the recent buyer who has waited longest is past their turn to be asked about.",
            labels: [
                "app": place.app.rawValue, "environment": place.environment.rawValue, "bundle_id": place.bundleID,
            ])
    }
}
