import Messages
import Observability

/// Logs and counts attempts on somebody else's purchase, and callers that were kept out. Never with payloads, tokens or
/// user ids: the correlation id leads to the rest.
struct SecurityLog: Sendable {
    /// Where its lines go.
    let logger: Logger
    private let events: [SecurityEvent: Counter]
    private let refusals: [Authenticator.Refusal: Counter]

    /// Registers the counters.
    init(logger: Logger, metrics: Metrics) {
        self.logger = logger
        events = Dictionary(
            uniqueKeysWithValues: SecurityEvent.allCases.map { event in
                (
                    event,
                    metrics.counter(
                        "purser_gateway_security_events_total",
                        help: "Attempts on somebody else's purchase, and evidence that is not genuine.",
                        labels: ["event": event.rawValue])
                )
            })
        refusals = Dictionary(
            uniqueKeysWithValues: Authenticator.Refusal.allCases.map { refusal in
                (
                    refusal,
                    metrics.counter(
                        "purser_gateway_authentication_failures_total", help: "Requests whose token was not accepted.",
                        labels: ["reason": refusal.rawValue])
                )
            })
    }

    /// An answer was a security event.
    func record(_ event: SecurityEvent, _ call: Call) {
        events[event]?.increment()
        logger.warning(
            "security event",
            [
                "security.event": .string(event.rawValue), "app": .string(call.app.id.rawValue),
                "correlation.id": .string(call.correlationID),
            ])
    }

    /// A caller was kept out. Counted only: the access log has the line, and anybody can cause these.
    func record(_ refusal: Authenticator.Refusal) { refusals[refusal]?.increment() }
}
