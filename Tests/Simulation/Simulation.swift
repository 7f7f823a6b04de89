import Runtime
import Synchronization

/// Runs schedules by their seeds.
public enum Simulation {
    /// A schedule that broke a rule.
    public struct Failure: Sendable {
        /// Runs it again.
        public let seed: UInt64
        /// Which rule, and how.
        public let problem: String
        /// What is left of it when nothing more can be left out, line by line.
        public let trace: [String]
    }

    /// What came of many schedules.
    public struct Report: Sendable {
        /// How many ran.
        public var schedules = 0
        /// Steps of all of them.
        public var turns = 0
        /// The first that failed.
        public var failure: Failure?
    }

    /// Runs the schedules of consecutive seeds on two threads, until one fails.
    public static func run(from first: UInt64, count: Int, threads: Int = 2) -> Report {
        run(from: first, count: count, threads: threads, mutation: nil)
    }

    /// The same for a caller that may not block.
    static func report(from first: UInt64, count: Int, mutation: Mutation? = nil) async -> Report {
        await withCheckedContinuation { continuation in
            _ = NamedThread.start(name: "simulation") {
                continuation.resume(returning: run(from: first, count: count, threads: 2, mutation: mutation))
            }
        }
    }

    static func run(from first: UInt64, count: Int, threads: Int, mutation: Mutation?) -> Report {
        let report = Mutex(Report())
        let next = Atomic<Int>(0)
        let workers = (0..<threads).map { number in
            NamedThread.start(name: "schedules \(number)") {
                while report.withLock({ $0.failure == nil }) {
                    let start = next.wrappingAdd(100, ordering: .relaxed).oldValue
                    guard start < count else { return }
                    let part = run(from: first + UInt64(start), to: min(100, count - start), mutation)
                    report.withLock {
                        $0.schedules += part.schedules
                        $0.turns += part.turns
                        if $0.failure == nil { $0.failure = part.failure }
                    }
                }
            }
        }
        for worker in workers { _ = worker.join(for: .seconds(3_600)) }
        return report.withLock { $0 }
    }

    private static func run(from first: UInt64, to count: Int, _ mutation: Mutation?) -> Report {
        var report = Report()
        for offset in 0..<UInt64(count) {
            let plan = Plan(seed: first + offset, mutation: mutation)
            let world = World(plan)
            let problem = world.run()
            report.schedules += 1
            report.turns += world.turns
            guard problem != nil else { continue }
            report.failure = explain(plan)
            break
        }
        return report
    }

    /// Makes mistakes on purpose and tells, a line each, which rule finds them and after how many schedules.
    public static func findMutations(named name: String?) -> [String] {
        Mutation.allCases.filter { [nil, "all", $0.rawValue].contains(name) }.map { mutation in
            let report = run(from: 1, count: 20_000, threads: 2, mutation: mutation)
            guard let failure = report.failure else { return "\(mutation): NOT FOUND in \(report.schedules)" }
            return "\(mutation): found by seed \(failure.seed): \(failure.problem.prefix(200))"
        }
    }

    /// The schedule of one seed, with everything that happens in it.
    public static func replay(_ seed: UInt64) -> (problem: String?, trace: [String]) {
        replay(Plan(seed: seed))
    }

    static func replay(_ plan: Plan) -> (problem: String?, trace: [String]) {
        let world = World(plan, isTracing: true)
        let problem = world.run()
        return (problem, world.traces)
    }

    /// The first words of a problem: which rule, without names.
    private static func kind(_ problem: String) -> [Substring] { Array(problem.split(separator: " ").prefix(3)) }

    /// Leaves out events and faults one by one as long as it still fails, and tells what is left.
    static func explain(_ plan: Plan) -> Failure {
        var small = plan
        // Something else going wrong is another story.
        let kind = World(plan).run().map(kind)
        func stillFails(_ plan: Plan) -> Bool { World(plan).run().map(Self.kind) == kind }
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for index in small.faults.indices.reversed() {
                var tried = small
                tried.faults.remove(at: index)
                guard stillFails(tried) else { continue }
                (small, hasChanged) = (tried, true)
            }
            for index in small.story.events.indices.reversed() where small.story.events.count > 1 {
                var tried = small
                tried.story.keep(only: small.story.events.indices.map { $0 != index })
                guard stillFails(tried) else { continue }
                (small, hasChanged) = (tried, true)
            }
        }
        let (problem, trace) = replay(small)
        return Failure(seed: plan.seed, problem: problem ?? "it does not fail again", trace: trace)
    }
}
