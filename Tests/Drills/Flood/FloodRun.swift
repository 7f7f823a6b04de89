import AppStoreSimulation
import Runtime

/// Measures how long a paying user waits, alone and during floods, in turns.
struct FloodRun {
    /// Connections of a flood.
    static let connections = 200
    /// A flood has used up what it may do at once, and a connection has been refused, before anything is measured.
    private static let warmUp = Duration.seconds(4)
    /// Purchases of one visit, on one connection; people do not stay connected.
    private static let visit = 5
    /// Purchases before anything is measured: caches, plans and pools fill.
    private static let rehearsal = 100
    /// How many times longer a purchase may take during a flood.
    private static let limit = 2.0

    private let port: UInt16
    private let token: String
    private let perTurn: Int
    private var loop: LoadLoop<PurchaseSource>
    private var report: BenchReport
    private var alone = LoadResult()
    private var flooded = LoadResult()

    /// Makes orders and signs purchases: `perTurn` for each kind of flood, and as many for the time before it.
    init(purchases perTurn: Int, folder: String) throws {
        let settings = DrillSettings()
        let url = try settings.value("GATEWAY_URL")
        guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw DrillSettings.Problem(description: "PURSER_DRILL_GATEWAY_URL ends with no port: \(url)")
        }
        self.port = port
        self.perTurn = perTurn
        let firstID = UInt64(WallClock.milliseconds()) * 1_000_000
        token = try settings.login().tokens().token("flood-\(firstID)")
        let count = Self.rehearsal + 2 * perTurn * FloodKind.all(token: token).count
        let users = try BenchUsers(settings, run: firstID)
        var ordering = LoadLoop(OrderSource(users, count: count), port: port)
        let ordered = try ordering.run(clients: 8)
        guard ordered.errors == 0 else {
            throw DrillSettings.Problem(description: "orders were refused, such as: \(ordered.firstError ?? "")")
        }
        let authority = try SimulatedAuthority.load(from: folder + "/simulator")
        let form = try PurchaseForm(authority, bundleID: try settings.value("BUNDLE_ID"), firstID: firstID)
        loop = LoadLoop(try PurchaseSource(users, ordering.source.orders, form, key: authority.leafKey), port: port)
        report = BenchReport(machine: Machine.look(folder: folder))
    }

    /// All turns, and what came of them.
    mutating func run() throws -> BenchReport {
        _ = try buy(Self.rehearsal)
        for kind in FloodKind.all(token: token) {
            let before = try buy(perTurn)
            let flooder = Flooder.start(kind, port: port, connections: Self.connections)
            defer { flooder.stop() }
            _ = StopSignal().wait(for: Self.warmUp)
            let counts = flooder.soFar
            let began = ContinuousClock.now
            let during = try buy(perTurn)
            note(kind, before, during, flooder.soFar, since: counts, seconds: began.duration(to: .now).inSeconds)
        }
        conclude()
        return report
    }

    /// Buys one after the other, some on each connection.
    private mutating func buy(_ count: Int) throws -> LoadResult {
        var all = LoadResult()
        while all.latencies.count + all.errors < count {
            let visit = try loop.run(clients: 1, limit: min(Self.visit, count - all.latencies.count - all.errors))
            all.latencies += visit.latencies
            all.errors += visit.errors
            all.firstError = all.firstError ?? visit.firstError
        }
        return all
    }

    private mutating func note(
        _ kind: FloodKind, _ before: LoadResult, _ during: LoadResult, _ counts: FloodCounts, since start: FloodCounts,
        seconds: Double
    ) {
        for result in [before, during] where result.errors > 0 {
            report.fail("\(result.errors) purchases were not granted around \(kind.name): \(result.firstError ?? "")")
        }
        alone.latencies += before.latencies
        flooded.latencies += during.latencies
        let answers = counts.answers.sorted { $0.key < $1.key }.compactMap { status, count -> String? in
            let new = count - (start.answers[status] ?? 0)
            return new > 0 ? "\(status): \(Decimal.text(Double(new) / seconds, digits: 0))/s" : nil
        }
        let closed = Decimal.text(Double(counts.closed - start.closed) / seconds, digits: 0)
        let begun = Decimal.text(Double(counts.connections - start.connections) / seconds, digits: 0)
        report.add(
            Measurement(
                "flood_\(kind.name)_p99_ms", during.milliseconds(99), "ms",
                how: "alone just before \(Decimal.text(before.milliseconds(99))); p50 "
                    + "\(Decimal.text(during.milliseconds(50))) to \(Decimal.text(before.milliseconds(50))); largest "
                    + "\(Decimal.text(during.milliseconds(100))) to \(Decimal.text(before.milliseconds(100)))"))
        report.note(
            "\(kind.name): \(kind.how). Connected \(begun)/s, closed by the gateway \(closed)/s, answered "
                + (answers.isEmpty ? "nothing" : answers.joined(separator: ", ")))
    }

    private mutating func conclude() {
        let (quiet, loud) = (alone.milliseconds(99), flooded.milliseconds(99))
        report.add(Measurement("purchase_alone_p99_ms", quiet, "ms", how: "\(alone.latencies.count) purchases"))
        report.add(Measurement("purchase_flooded_p99_ms", loud, "ms", how: "\(flooded.latencies.count) purchases"))
        report.add(
            Measurement(
                "flood_p99_ratio", quiet > 0 ? loud / quiet : .infinity, "", .atMost(Self.limit),
                how: "\(Self.connections) hostile connections; a purchase at a time, \(Self.visit) on a connection"))
    }
}
