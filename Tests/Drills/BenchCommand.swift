import AppStoreSimulation

/// `purser-drills bench [SECONDS] [CLIENTS]`: how many purchases a second go the whole path, HTTP in to HTTP out, with
/// everything on this machine, and how long a single one takes when nothing else goes on.
///
/// Each purchase is a transaction of its own, signed beforehand with the simulator's certificates and claimed by the
/// caller. Every answer must be GRANTED; anything else counts as an error and fails the bench.
enum BenchCommand {
    /// Exit code: 0 all granted, 1 an answer was wrong, 2 wrong usage or settings.
    static func run(_ arguments: [String]) -> Int32 {
        let numbers = arguments.compactMap { Int($0) }
        guard numbers.count == arguments.count, numbers.count <= 2, numbers.allSatisfy({ (1...1_000).contains($0) })
        else {
            print("usage: purser-drills bench [SECONDS] [CLIENTS]")
            return 2
        }
        do {
            let settings = DrillSettings()
            return try measure(
                try BenchTarget(settings), seconds: numbers.first ?? 10, clients: numbers.count == 2 ? numbers[1] : 64)
        } catch {
            print("the bench cannot run: \(error)")
            return 2
        }
    }

    private static func measure(_ target: BenchTarget, seconds: Int, clients: Int) throws -> Int32 {
        // The first purchases fill caches and connection pools; they are not counted.
        _ = try round(target, clients: 1, count: 50, within: .seconds(30))
        let single = try round(target, clients: 1, count: 200, within: .seconds(30))
        print("one purchase at a time      p50 \(milliseconds(single, 50))  p99 \(milliseconds(single, 99))  ms")
        // More than can be granted in the time, so that nobody runs dry.
        let many = try round(target, clients: clients, count: seconds * 3_000, within: .seconds(seconds))
        let rate = Double(many.latencies.count) / inSeconds(many.elapsed)
        print(
            "\(clients) clients for \(seconds) s          \(Int(rate)) purchases/s  p50 \(milliseconds(many, 50))  "
                + "p99 \(milliseconds(many, 99))  ms")
        let errors = single.errors + many.errors
        print("answers other than GRANTED  \(errors)\(many.firstError.map { ", such as: \($0)" } ?? "")")
        return errors == 0 ? 0 : 1
    }

    private static func milliseconds(_ result: BenchRound.Result, _ percent: Int) -> String {
        guard !result.latencies.isEmpty else { return "-" }
        let sorted = result.latencies.sorted()
        let index = min(sorted.count - 1, sorted.count * percent / 100)
        return "\(Double(Int(inSeconds(sorted[index]) * 100_000)) / 100)"
    }

    private static func inSeconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    private static func round(
        _ target: BenchTarget, clients: Int, count: Int, within limit: Duration
    ) throws -> BenchRound.Result {
        try BenchRound(target, count: count).run(clients: clients, within: limit)
    }
}
