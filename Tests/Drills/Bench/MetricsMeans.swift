/// What the services' own histograms say happened between two moments.
struct MetricsMeans {
    private let before: [String: [String: Double]]
    private var after: [String: [String: Double]]

    /// Reads every service now.
    init(_ deployment: BenchDeployment) throws {
        before = try Self.read(deployment)
        after = before
    }

    /// Reads every service again.
    mutating func update(_ deployment: BenchDeployment) throws { after = try Self.read(deployment) }

    private static func read(_ deployment: BenchDeployment) throws -> [String: [String: Double]] {
        try Dictionary(
            uniqueKeysWithValues: BenchDeployment.services.map { ($0, try deployment.metrics(of: $0)) })
    }

    /// The mean of a histogram's values observed meanwhile, in its own unit; 0 if there were none.
    func mean(_ service: String, _ name: String, _ labels: String = "") -> Double {
        let suffix = labels.isEmpty ? "" : "{\(labels)}"
        let count = difference(service, "\(name)_count\(suffix)")
        return count > 0 ? difference(service, "\(name)_sum\(suffix)") / count : 0
    }

    private func difference(_ service: String, _ key: String) -> Double {
        (after[service]?[key] ?? 0) - (before[service]?[key] ?? 0)
    }

    private static let verification = #"queue="verification.purchases""#
    private static let granting = #"queue="granting.purchases""#

    /// Messages a transaction, in the two lanes that every purchase passes.
    var batchSizes: (verification: Double, granting: Double) {
        (
            mean("verification", "purser_lane_batch_messages", Self.verification),
            mean("granting", "purser_lane_batch_messages", Self.granting)
        )
    }

    /// Where the time of single purchases went, from what the client saw (mean, µs) inwards.
    func latency(client: Double) -> BenchReport.Breakdown {
        func microseconds(_ service: String, _ name: String, _ labels: String) -> Double {
            mean(service, name, labels) * 1e6
        }
        let gateway = microseconds(
            "gateway", "purser_gateway_request_duration_seconds", #"route="/api/iap/apple/verify""#)
        let verifying = microseconds("verification", "purser_lane_commit_seconds", Self.verification)
        let judging = microseconds("verification", "purser_verification_seconds", "")
        let granting = microseconds("granting", "purser_lane_commit_seconds", Self.granting)
        let deciding = microseconds("granting", "purser_lane_handler_seconds", Self.granting)
        let hops = gateway - verifying - granting
        return BenchReport.Breakdown(
            title: "Time of one purchase with nothing else going on", unit: "µs, means",
            rows: [
                ("HTTP in and out", client - gateway, "client, sockets, the gateway's event loop"),
                ("gateway and three broker hops", hops, "\(Int(hops / 3)) a hop, with encoding and waking threads"),
                ("verification: signature and rules", judging, ""),
                ("verification: evidence, fact, commit", verifying - judging, "one round trip and the commit's fsync"),
                ("granting: load and decide", deciding, "the round trips that lock and read"),
                ("granting: save, fact, commit", granting - deciding, "one round trip and the commit's fsync"),
            ], total: "what the client saw")
    }
}
