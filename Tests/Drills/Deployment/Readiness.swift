import HTTPClient
import Runtime

/// Asks services whether they are ready. Blocking.
struct Readiness {
    let site: Site
    private let never = StopSignal()

    /// A healthy process answers in milliseconds; one that is frozen never.
    private static let patience = Duration.seconds(2)

    init(_ site: Site) { self.site = site }

    /// Waits until all services are ready. Returns those that are not when the time is over.
    func wait(until deadline: ContinuousClock.Instant) -> [String] {
        var left = site.services
        var configuration = HTTPClient.Configuration()
        configuration.timeout = Self.patience
        guard var client = try? HTTPClient.open(configuration) else { return left }
        while true {
            var waiting: [String] = []
            for name in left {
                let url = site.readiness[name] ?? ""
                if (try? client.send(HTTPClientRequest("GET", url)))?.status != 200 { waiting.append(name) }
            }
            left = waiting
            if left.isEmpty || ContinuousClock.now >= deadline { return left }
            _ = never.wait(for: .milliseconds(50))
        }
    }
}
