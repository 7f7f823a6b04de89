import Messages
import Observability

/// What is counted about consumption requests. Gauges of open ones are the same in every copy: alert on the maximum.
struct ConsumptionMetrics: Sendable {
    /// How long an open request has waited.
    enum Age: String, Sendable, CaseIterable {
        /// Before the first warning (6 hours).
        case young = "before_first_alert"
        /// Between the warnings (11 hours).
        case old = "before_second_alert"
        /// After both.
        case oldest = "after_second_alert"
    }

    /// The two warnings.
    enum Stage: String, Sendable, CaseIterable {
        case first, second

        /// The warning that was given last.
        init(alerts: Int64) { self = alerts >= 2 ? .second : .first }
    }

    private let metrics: Metrics

    init(_ metrics: Metrics) {
        self.metrics = metrics
        // From the start, so that an alert can watch for a rise.
        for age in Age.allCases { open(age).set(0) }
        for stage in Stage.allCases { for reason in ConsumptionReason.allCases { _ = alerts(stage, reason) } }
        for state in ["sent", "refused", "skipped", "expired"] { _ = ended(state) }
    }

    /// Open requests by how long they have waited.
    func open(_ age: Age) -> Gauge {
        metrics.gauge(
            "purser_intake_consumption_open", help: "Open consumption requests, by how long they have waited.",
            labels: ["age": age.rawValue])
    }

    /// Open requests by what they wait for.
    func waiting(_ reason: ConsumptionReason) -> Gauge {
        metrics.gauge(
            "purser_intake_consumption_waiting", help: "Open consumption requests, by what they wait for.",
            labels: ["reason": reason.rawValue])
    }

    /// Warnings, each given once among all copies.
    func alerts(_ stage: Stage, _ reason: ConsumptionReason) -> Counter {
        metrics.counter(
            "purser_intake_consumption_alerts_total",
            help: "Warnings that a consumption request waits too long, by stage and by what it waits for.",
            labels: ["stage": stage.rawValue, "reason": reason.rawValue])
    }

    /// Requests that ended: `sent`, `refused`, `skipped`, `expired`.
    func ended(_ state: String) -> Counter {
        metrics.counter(
            "purser_intake_consumption_ended_total", help: "Consumption requests that ended, by state.",
            labels: ["state": state])
    }

    /// What came of telling Apple: `accepted`, or the code of the error.
    func attempts(_ outcome: String) -> Counter {
        metrics.counter(
            "purser_intake_consumption_attempts_total", help: "Attempts to tell Apple about consumption, by outcome.",
            labels: ["outcome": outcome])
    }

    /// Whether Apple refuses an app's key at present.
    func unauthorized(_ app: AppID, _ environment: StoreEnvironment) -> Gauge {
        metrics.gauge(
            "purser_intake_server_api_unauthorized", help: "1 while Apple's Server API refuses the app's key (401).",
            labels: ["app": app.rawValue, "environment": environment.rawValue])
    }
}
