import Glibc
import Runtime
import Simulation

/// `purser-simulation [COUNT [FIRST]]` runs the schedules of COUNT seeds; `purser-simulation seed N` runs one and
/// tells everything that happens in it. Ends with 1 if a rule was broken.
@main
enum SimulateMain {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "seed", let seed = words.last.flatMap({ UInt64($0) }) { exit(replay(seed)) }
        if words.first == "mutation" { exit(mutate(words.dropFirst().first)) }
        let count = words.first.flatMap { Int($0) } ?? 100_000
        let first = words.dropFirst().first.flatMap { UInt64($0) } ?? 1
        let began = ContinuousClock.now
        let report = Simulation.run(from: first, count: count)
        let took = began.duration(to: .now)
        print("\(report.schedules) schedules, \(report.turns) turns in \(took.components.seconds) s")
        guard let failure = report.failure else { exit(0) }
        for line in failure.trace { print(line) }
        print("seed \(failure.seed): \(failure.problem)")
        print("again, in full: make simulate SEED=\(failure.seed)")
        exit(1)
    }

    private static func mutate(_ name: String?) -> Int32 {
        for line in Simulation.findMutations(named: name) { print(line) }
        return 0
    }

    private static func replay(_ seed: UInt64) -> Int32 {
        let (problem, trace) = Simulation.replay(seed)
        for line in trace { print(line) }
        print(problem.map { "seed \(seed): \($0)" } ?? "seed \(seed): all is well")
        return problem == nil ? 0 : 1
    }
}
