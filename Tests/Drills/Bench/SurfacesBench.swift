import AppStoreSimulation
import Glibc

/// Whether three surfaces at once are as fast as one: purchases a second over `orders` alone, and over `orders`, `points`
/// and `game` in turn, with everything running. The two take turns within one run, so that the machine's own moods meet
/// both; the median of the rounds' ratios counts.
struct SurfacesBench {
    /// Rounds of each kind.
    private static let rounds = 4
    /// Seconds of a round.
    private static let seconds = 4.0
    /// Purchases of each kind that fill caches before anything counts.
    private static let warmUp = 600
    /// More purchases than the first rate asks for.
    private static let spare = 1.4

    private let deployment: BenchDeployment
    private let settings = DrillSettings()
    private let authority: SimulatedAuthority
    private let clients: Int
    private let users: BenchUsers
    private let points: BenchUsers
    private let game: BenchUsers
    private var firstID: UInt64

    static func run(_ options: BenchOptions, _ report: inout BenchReport) throws {
        var bench = try SurfacesBench(options)
        let rate = try bench.rehearse(&report)
        try bench.perform(expecting: rate, &report)
    }

    private init(_ options: BenchOptions) throws {
        clients = options.clients
        deployment = try BenchDeployment(settings)
        authority = try SimulatedAuthority.load(from: deployment.simulator)
        // Ids no earlier run has used, nor the part before.
        firstID = UInt64(WallClock.milliseconds()) * 1_000_000
        users = try BenchUsers(settings, run: firstID)
        points = try BenchUsers(
            settings, run: firstID, login: try settings.pointsLogin(), host: SurfaceForm.points.host)
        game = try BenchUsers(
            settings, run: firstID, login: try settings.gameLogin(), host: SurfaceForm.game.host)
    }

    /// Both loads, with so many purchases each.
    private mutating func loads(
        _ count: Int, _ report: inout BenchReport
    ) throws -> (alone: LoadLoop<PurchaseSource>, three: LoadLoop<SurfaceSource>) {
        let alone = try orders(count, &report)
        let third = (count + 2) / 3
        let source = SurfaceSource(
            orders: try orders(third, &report), points: try others(.points, points, third),
            game: try others(.game, game, third))
        return (LoadLoop(alone, port: deployment.port), LoadLoop(source, port: deployment.port))
    }

    private mutating func orders(_ count: Int, _ report: inout BenchReport) throws -> PurchaseSource {
        var ordering = LoadLoop(OrderSource(users, count: count), port: deployment.port)
        check(try ordering.run(clients: clients), "making orders", &report)
        let form = try PurchaseForm(authority, bundleID: try settings.value("BUNDLE_ID"), firstID: firstID)
        firstID += UInt64(count)
        return try PurchaseSource(users, ordering.source.orders, form, key: authority.leafKey)
    }

    private mutating func others(_ form: SurfaceForm, _ users: BenchUsers, _ count: Int) throws -> SurfacePurchases {
        defer { firstID += UInt64(count) }
        return try SurfacePurchases(form, users, count: count, authority: authority, firstID: firstID)
    }

    /// A short load of both kinds. Returns purchases a second.
    private mutating func rehearse(_ report: inout BenchReport) throws -> Double {
        var loads = try loads(3 * Self.warmUp, &report)
        let alone = try loads.alone.run(clients: clients)
        check(alone, "warming up", &report)
        check(try loads.three.run(clients: clients), "warming up three surfaces", &report)
        return alone.rate
    }

    private mutating func perform(expecting rate: Double, _ report: inout BenchReport) throws {
        var loads = try loads(Int(rate * Self.spare * Self.seconds) * Self.rounds, &report)
        var rates: [(alone: Double, three: Double)] = []
        for _ in 0..<Self.rounds {
            let alone = try loads.alone.run(clients: clients, seconds: Self.seconds)
            check(alone, "orders alone", &report)
            let three = try loads.three.run(clients: clients, seconds: Self.seconds)
            check(three, "three surfaces", &report)
            if alone.ranDry || three.ranDry { report.note("the purchases of a round were used up before its time") }
            rates.append((alone.rate, three.rate))
        }
        let median = Statistics.median(rates.map { $0.three / max($0.alone, 1) }) ?? 0
        let alone = Statistics.median(rates.map(\.alone)) ?? 0
        let three = Statistics.median(rates.map(\.three)) ?? 0
        report.add(
            Measurement(
                "three_surfaces_vs_one", median, "", .atLeast(0.9),
                how:
                    "orders, points and game in turn \(Int(three))/s, orders alone \(Int(alone))/s; \(Self.rounds) rounds "
                    + "of \(Int(Self.seconds)) s each, \(clients) under way"))
    }

    private func check(_ result: LoadResult, _ phase: String, _ report: inout BenchReport) {
        guard result.errors > 0 else { return }
        report.fail("\(phase): \(result.errors) answers other than delivered, such as: \(result.firstError ?? "")")
    }
}
