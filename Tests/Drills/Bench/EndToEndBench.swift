import AppStoreSimulation
import Glibc

/// The whole path of a purchase, HTTP in to HTTP out, with everything on this machine: gateway, verification, granting,
/// RabbitMQ with its facts stream, PostgreSQL with synchronous_commit, and the load generator.
///
/// Orders are made beforehand through the public API; each purchase carries its order's number and token. Every answer
/// must be GRANTED; any other is an error.
struct EndToEndBench {
    /// Purchases that fill caches and pools before anything counts, and those of one client alone.
    private static let warmUp = 200
    private static let singles = 500
    /// Seconds of full load that only tell how many orders the real one will need.
    private static let rehearsal = 3.0
    /// More orders than the rehearsal's rate asks for, so that nobody runs dry.
    private static let spare = 1.3

    private let deployment: BenchDeployment
    private let users: BenchUsers
    private let authority: SimulatedAuthority
    private let bundleID: String
    private var firstID: UInt64
    private var ordersPerSecond = 0.0
    private let options: BenchOptions

    static func run(_ options: BenchOptions, _ report: inout BenchReport) throws {
        var bench = try EndToEndBench(options)
        let rate = try bench.rehearse(&report)
        try bench.perform(expecting: rate, &report)
    }

    private init(_ options: BenchOptions) throws {
        let settings = DrillSettings()
        self.options = options
        deployment = try BenchDeployment(settings)
        bundleID = try settings.value("BUNDLE_ID")
        authority = try SimulatedAuthority.load(from: deployment.simulator)
        // Ids no earlier run has used.
        firstID = UInt64(WallClock.milliseconds()) * 1_000_000
        users = try BenchUsers(settings, run: firstID)
    }

    /// Makes orders and signs a purchase for each.
    private mutating func purchases(_ count: Int, _ report: inout BenchReport) throws -> LoadLoop<PurchaseSource> {
        var ordering = LoadLoop(OrderSource(users, count: count), port: deployment.port)
        let result = try ordering.run(clients: options.clients)
        if result.errors > 0 {
            report.fail("\(result.errors) of \(count) orders were refused, such as: \(result.firstError ?? "")")
        }
        ordersPerSecond = result.rate
        let form = try PurchaseForm(authority, bundleID: bundleID, firstID: firstID)
        firstID += UInt64(count)
        let source = try PurchaseSource(users, ordering.source.orders, form, key: authority.leafKey)
        return LoadLoop(source, port: deployment.port)
    }

    /// One client alone, then a short full load. Returns purchases a second.
    private mutating func rehearse(_ report: inout BenchReport) throws -> Double {
        var loop = try purchases(Self.warmUp + Self.singles + Int(Self.rehearsal) * 4_000, &report)
        check(try loop.run(clients: 1, limit: Self.warmUp), "warming up", &report)
        var means = try MetricsMeans(deployment)
        let single = try loop.run(clients: 1, limit: Self.singles)
        try means.update(deployment)
        check(single, "one at a time", &report)
        report.add(
            Measurement(
                "single_purchase_p50_ms", single.milliseconds(50), "ms", .atMost(5),
                how: "one client, nothing else, \(Self.singles) purchases; p99 \(Decimal.text(single.milliseconds(99)))"
            ))
        report.add(means.latency(client: single.meanMicroseconds))
        let full = try loop.run(clients: options.clients, seconds: Self.rehearsal)
        check(full, "rehearsal", &report)
        return full.rate
    }

    private mutating func perform(expecting rate: Double, _ report: inout BenchReport) throws {
        let half = max(10, Double(options.duration) / 3)
        let needed = Int(rate * Self.spare * (Double(options.duration) + half / 2))
        var loop = try purchases(needed, &report)
        report.add(
            Measurement(
                "orders_per_s", ordersPerSecond, "/s", how: "\(needed) orders made beforehand by the public API"))
        let full = try saturate(&loop, &report)
        let open = try loop.run(clients: options.clients, .open(perSecond: full.rate / 2), seconds: half)
        check(open, "half the rate", &report)
        report.add(
            Measurement(
                "e2e_p99_ms_at_half_rate", open.milliseconds(99), "ms", .atMost(100),
                how: "\(Int(open.rate))/s arriving at random for \(Int(half)) s, counted from the scheduled arrival; "
                    + "p50 \(Decimal.text(open.milliseconds(50))), largest \(Decimal.text(open.milliseconds(100)))"))
        if open.ranDry { report.note("the purchases at half the rate were used up before the time") }
    }

    private func saturate(
        _ loop: inout LoadLoop<PurchaseSource>, _ report: inout BenchReport
    ) throws -> LoadResult {
        var means = try MetricsMeans(deployment)
        let memory = MemoryWatch.start(deployment)
        let before = try ProcessTimes.read(deployment)
        let full = try loop.run(clients: options.clients, seconds: Double(options.duration))
        let after = try ProcessTimes.read(deployment)
        try means.update(deployment)
        check(full, "full load", &report)
        let slowest = full.perSecond.dropFirst().dropLast().min() ?? 0
        report.add(
            Measurement(
                "e2e_purchases_per_s", full.rate, "/s", .atLeast(1_000),
                how: "\(options.clients) under way for \(Int(full.elapsed)) s; slowest second \(slowest); p50 "
                    + "\(Decimal.text(full.milliseconds(50))) ms, p99 \(Decimal.text(full.milliseconds(99)))"))
        for row in memory.finish() { report.add(row) }
        let sizes = means.batchSizes
        report.add(
            Measurement(
                "batch_messages", sizes.granting, "",
                how:
                    "messages a transaction at full load; of Verification \(Decimal.text(sizes.verification))"
            ))
        report.add(after.breakdown(of: "purchase", since: before, count: full.latencies.count))
        let (busy, others) = (after.busy(since: before), after.others(since: before))
        report.note("at full load \(Decimal.text(busy)) of \(report.machine.cores) cores were busy")
        if others > Machine.noise {
            report.note("NOISY: others used \(Decimal.text(others)) of them meanwhile, do not trust this run")
        }
        if full.ranDry { report.note("the purchases were used up before the time: nothing is wrong but the length") }
        return full
    }

    private func check(_ result: LoadResult, _ phase: String, _ report: inout BenchReport) {
        guard result.errors > 0 else { return }
        report.fail("\(phase): \(result.errors) answers other than GRANTED, such as: \(result.firstError ?? "")")
    }
}
