import AppStoreSimulation
import Runtime

/// Apple's notifications by HTTP, everything on this machine: gateway, intake, granting, broker, database and the load.
/// Each is answered 200 when it is durable; afterwards the queues must run empty and every one must be in the books.
struct NotifyBench {
    private static let warmUp = 300
    /// Seconds of full load that only tell how many the real one will need.
    private static let rehearsal = 2.0
    /// A rehearsal on cold caches tells half of what comes.
    private static let spare = 2.5
    /// A third of the usual load: what is not yet handled waits in queues, which are not to fill the disk.
    private static let share = 3
    /// As much as Apple is let in with at a time without being told 503.
    private static let mostClients = 120
    /// Within this time after the last answer everything must be in the books.
    private static let patience = Duration.seconds(180)

    private let deployment: BenchDeployment
    private let authority: SimulatedAuthority
    private let bundleID: String
    private let appAppleID: Int64
    private let options: BenchOptions
    private var firstID: UInt64
    private let before: (stored: Int64, applied: Int64)
    /// Answered with 200 so far.
    private var accepted = 0

    static func run(_ options: BenchOptions, _ report: inout BenchReport) throws {
        var bench = try NotifyBench(options)
        try bench.perform(&report)
    }

    private init(_ options: BenchOptions) throws {
        let settings = DrillSettings()
        self.options = options
        deployment = try BenchDeployment(settings)
        bundleID = try settings.value("BUNDLE_ID")
        appAppleID = try settings.appAppleID()
        authority = try SimulatedAuthority.load(from: deployment.simulator)
        // Ids no earlier run has used; apart from those of purchases by their last digits.
        firstID = UInt64(WallClock.milliseconds()) * 1_000_000 + 500_000
        before = try deployment.notificationCounts()
    }

    private mutating func loop(_ count: Int) throws -> LoadLoop<NotificationSource> {
        let form = try NotificationForm(authority, bundleID: bundleID, appAppleID: appAppleID, firstID: firstID)
        firstID += UInt64(count)
        return LoadLoop(try NotificationSource(form, count: count, key: authority.leafKey), port: deployment.port)
    }

    private mutating func perform(_ report: inout BenchReport) throws {
        let clients = min(options.clients, Self.mostClients)
        var first = try loop(Self.warmUp + Int(Self.rehearsal) * 6_000)
        check(try first.run(clients: 1, limit: Self.warmUp), "warming up", &report)
        let rehearsal = try first.run(clients: clients, seconds: Self.rehearsal)
        check(rehearsal, "rehearsal", &report)
        _ = try drain(&report)
        let seconds = max(5, Double(options.duration) / Double(Self.share))
        // UUIDs count from zero in each form; another run of ids makes another form.
        firstID = (firstID / 1_000_000 + 1) * 1_000_000 + 500_000
        var second = try loop(Int(rehearsal.rate * Self.spare * seconds * 1.5))
        let times = try ProcessTimes.read(deployment)
        let full = try second.run(clients: clients, seconds: seconds)
        check(full, "full load", &report)
        let drained = try drain(&report)
        let after = try ProcessTimes.read(deployment)
        let inBooks = Double(full.latencies.count) / (full.elapsed + drained.inSeconds)
        report.add(after.breakdown(of: "notification", since: times, count: full.latencies.count))
        report.add(
            Measurement(
                "notifications_per_s", full.rate, "/s", .atLeast(1_500),
                how: "\(clients) under way for \(Int(full.elapsed)) s, POST to durable 200; slowest second "
                    + "\(full.perSecond.dropFirst().dropLast().min() ?? 0); p99 "
                    + "\(Decimal.text(full.milliseconds(99))) ms; in the books \(Decimal.text(drained.inSeconds)) s later"
            ))
        report.add(
            Measurement(
                "notifications_in_books_per_s", inBooks, "/s",
                how: "the same, from the first POST until the last was verified, stored and applied"))
        let halfTime = seconds / 2
        let half = try tail(&second, at: inBooks / 2, halfTime, "notification_p99_ms", .atMost(50), &report)
        let burst = try tail(&second, at: full.rate / 2, halfTime, "notification_burst_p99_ms", .none, &report)
        if full.ranDry || half || burst { report.note("the notifications were used up before the time") }
    }

    /// The slowest of a hundred that arrive at random, `rate` a second. Whether there were too few.
    private mutating func tail(
        _ loop: inout LoadLoop<NotificationSource>, at rate: Double, _ seconds: Double, _ name: String,
        _ target: Measurement.Target, _ report: inout BenchReport
    ) throws -> Bool {
        let clients = min(options.clients, Self.mostClients)
        let result = try loop.run(clients: clients, .open(perSecond: rate), seconds: seconds)
        check(result, name, &report)
        _ = try drain(&report)
        guard !result.latencies.isEmpty else {
            report.fail("\(name): no notification was left to post")
            return true
        }
        report.add(
            Measurement(
                name, result.milliseconds(99), "ms", target,
                how: "\(Int(result.rate))/s arriving at random for \(Int(seconds)) s, counted from the scheduled "
                    + "arrival; p50 \(Decimal.text(result.milliseconds(50)))"))
        return result.ranDry
    }

    /// Waits until as many are stored and applied as were answered with 200. How long that took.
    private func drain(_ report: inout BenchReport) throws -> Duration {
        let began = ContinuousClock.now
        let pause = StopSignal()
        var (stored, applied) = (0, 0)
        while began.duration(to: .now) < Self.patience {
            let now = try deployment.notificationCounts()
            (stored, applied) = (Int(now.stored - before.stored), Int(now.applied - before.applied))
            if stored == accepted, applied == accepted { return began.duration(to: .now) }
            _ = pause.wait(for: .milliseconds(100))
        }
        report.fail("of \(accepted) notifications \(stored) are stored, \(applied) in the books")
        return began.duration(to: .now)
    }

    private mutating func check(_ result: LoadResult, _ phase: String, _ report: inout BenchReport) {
        accepted += result.latencies.count
        guard result.errors > 0 else { return }
        report.fail("notifications, \(phase): \(result.errors) not answered 200, such as: \(result.firstError ?? "")")
    }
}
