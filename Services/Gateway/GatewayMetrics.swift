import Observability

/// Counts and times requests. Every instrument is made at start: a request only looks up and increments.
struct GatewayMetrics: Sendable {
    private struct Route: Sendable {
        /// By the first digit of the status.
        let answers: [Int: Counter]
        let latency: Histogram
    }

    private let routes: [String: Route]
    private let inFlight: Gauge
    private let limited: [Limit: Counter]

    /// Registers the instruments of `routes` (templates); `waiting` reads how many questions wait for an answer,
    /// `isBlocked` whether the broker takes none.
    init(
        _ metrics: Metrics, routes: [String], waiting: @escaping @Sendable () -> Int,
        isBlocked: @escaping @Sendable () -> Bool
    ) {
        var known: [String: Route] = [:]
        for route in routes + [RequestTrace.unknownRoute] {
            let answers = (1...5).map { digit in
                let labels = ["route": route, "status": "\(digit)xx"]
                return (
                    digit,
                    metrics.counter("purser_gateway_requests_total", help: "Requests answered.", labels: labels)
                )
            }
            known[route] = Route(
                answers: Dictionary(uniqueKeysWithValues: answers),
                latency: metrics.histogram(
                    "purser_gateway_request_duration_seconds", help: "From the complete request to its answer.",
                    labels: ["route": route]))
        }
        self.routes = known
        inFlight = metrics.gauge("purser_gateway_requests_in_flight", help: "Requests being answered.")
        metrics.gauge("purser_gateway_questions_waiting", help: "Questions to services without an answer yet.") {
            Double(waiting())
        }
        metrics.gauge("purser_gateway_broker_blocked", help: "1 while the broker takes no messages (an alarm).") {
            isBlocked() ? 1 : 0
        }
        limited = Dictionary(
            uniqueKeysWithValues: Limit.allCases.map { limit in
                (
                    limit,
                    metrics.counter(
                        "purser_gateway_limited_total", help: "Requests and connections refused by a limit.",
                        labels: ["limit": limit.rawValue])
                )
            })
    }

    /// A request that the server itself refused: it was never in flight.
    func count(status: Int) { routes[RequestTrace.unknownRoute]?.answers[status / 100]?.increment() }

    /// A request or a connection ran into a limit.
    func count(_ limit: Limit) { limited[limit]?.increment() }

    /// A request arrived.
    func begin() { inFlight.add(1) }

    /// It was answered.
    func end(route: String, status: Int, duration: Duration) {
        inFlight.add(-1)
        guard let route = routes[route] else { return }
        route.answers[status / 100]?.increment()
        route.latency.observe(duration)
    }
}
