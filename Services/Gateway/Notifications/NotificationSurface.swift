import HTTPServer
import JSON
import Messages
import Observability
import Pipeline

/// The addresses Apple calls: App Store Server Notifications, version 2. Served for every app, without a login.
///
/// A notification is answered 200 with an empty body as soon as the broker has it on disk; who it is from is looked at
/// later (NotificationIntake). Anything else makes Apple send it again. `docs/protocols/notifications.md` says all of it.
struct NotificationSurface: Sendable {
    /// All addresses, after the app's prefix. Which of them is called decides nothing: environment and app are signed.
    static let addresses = [
        "/api/apple/iap/notifications", "/api/apple/iap/notifications/sandbox", "/apple/iap/notifications",
        "/apple/iap/notifications/sandbox", "/api/v1/payments/apple/notifications", "/iap/notify",
    ]
    /// Longest body in bytes. Apple's have some 10 to 20 KB; signed data of that size is what the verifier takes.
    static let longestBody = 256 << 10

    private let asker: any Asker
    private let metrics: NotificationMetrics
    private let logger: Logger
    /// Anybody can call here: a flood must not become a flood of lines.
    private let lines = LineBudget()

    /// The surface.
    init(asker: any Asker, metrics: Metrics, logger: Logger) {
        self.asker = asker
        self.metrics = NotificationMetrics(metrics)
        self.logger = logger
    }

    /// Whether a path, whose app and prefix are not known yet, is one of the addresses.
    static func isAddress(_ path: String) -> Bool { addresses.contains { path.hasSuffix($0) } }

    /// The longest body the server reads for such a path; nil for others.
    static func bodyLimit(path: String) -> Int? { isAddress(path) ? longestBody : nil }

    /// The limits of these addresses, instead of those for clients.
    static func rules(_ settings: LimitSettings) -> [AddressLimits.Rule] {
        // One for all of them: it is the same caller.
        let limiter = RateLimiter.ifLimited(perSecond: settings.notificationRate, burst: settings.notificationBurst)
        return addresses.map { AddressLimits.Rule(pathSuffix: $0, limiter: limiter) }
    }

    /// All calls.
    var endpoints: [(method: String, endpoint: Endpoint)] {
        Self.addresses.map { address in
            (
                "POST",
                Endpoint(route: address, token: nil, bodyLimit: nil, subject: .other) { (call) throws(Problem) in
                    try await receive(call)
                    return nil
                }
            )
        }
    }

    private func receive(_ call: Call) async throws(Problem) {
        let payload: String
        do throws(NotificationBody.Unusable) {
            payload = try NotificationBody.signedPayload(call.content)
        } catch {
            refuse(call, error)
            throw error.problem
        }
        let context = Requester.Context(
            app: call.app.id, correlationID: call.correlationID, patience: GatewayPatience.durable)
        do {
            try await asker.tell(NotificationReceived(app: call.app.id, signedPayload: payload), context: context)
            metrics.received.increment()
        } catch {
            let reason = (error as? RequestError) ?? .brokerUnavailable(reason: "unknown")
            metrics.unavailable.increment()
            tell("a notification could not be made durable; Apple will send it again", call, reason.code)
            throw Problem(untold: reason)
        }
    }

    private func refuse(_ call: Call, _ reason: NotificationBody.Unusable) {
        metrics.refused[reason]?.increment()
        let message: StaticString =
            reason == .versionOne
            ? "a version 1 notification was refused; choose version 2 in App Store Connect"
            : "what was sent to a notification address is no notification"
        tell(message, call, reason.rawValue)
    }

    /// A line with constant text; nothing of what was sent.
    private func tell(_ message: StaticString, _ call: Call, _ reason: String) {
        guard let keptBack = lines.line(reason) else { return }
        var fields: [String: LogValue] = [
            "app": .string(call.app.id.rawValue), "correlation.id": .string(call.correlationID),
            "reason": .string(reason),
        ]
        if keptBack > 0 { fields["lines.kept.back"] = .int(keptBack) }
        logger.warning(message, fields)
    }
}

/// What the gateway counts of notifications: what alerts are made of.
struct NotificationMetrics: Sendable {
    let received: Counter
    let unavailable: Counter
    let refused: [NotificationBody.Unusable: Counter]

    /// Registers the counters; all are there from the start, so that their absence means something.
    init(_ metrics: Metrics) {
        func counter(_ outcome: String) -> Counter {
            metrics.counter(
                "purser_gateway_notifications_total",
                help: "Calls of notification addresses: received (durable), unavailable (Apple repeats), or refused.",
                labels: ["outcome": outcome])
        }
        received = counter("received")
        unavailable = counter("unavailable")
        refused = Dictionary(
            uniqueKeysWithValues: NotificationBody.Unusable.allCases.map { ($0, counter($0.rawValue)) })
    }
}
