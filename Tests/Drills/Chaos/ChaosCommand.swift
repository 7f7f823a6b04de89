import Runtime

/// `purser-drills chaos [SECONDS] [SEED]`: breaks a running deployment while purchases and spends flow, and proves
/// afterwards that each was done exactly once. docs/guides/chaos.md tells all of it.
enum ChaosCommand {
    /// As long as every kind of fault needs.
    private static let usualSeconds = 120

    /// Exit code: 0 everything held, 1 something did not, 2 it could not be found out.
    static func run(_ arguments: [String]) -> Int32 {
        let numbers = arguments.compactMap { UInt64($0) }
        guard numbers.count == arguments.count, numbers.count <= 2, (5...3_600).contains(numbers.first ?? 5) else {
            print("usage: purser-drills chaos [SECONDS (5…3600)] [SEED]")
            return 2
        }
        let seconds = numbers.first.map { Int($0) } ?? usualSeconds
        // Small enough to be typed.
        let seed = numbers.count == 2 ? numbers[1] : UInt64.random(in: 1...999_999)
        do {
            return try ChaosRun(DrillSettings(), seed: seed, seconds: seconds).run()
        } catch {
            print("chaos cannot run: \(error)\nseed \(seed); logs: logs/ in the folder of the deployment")
            return 2
        }
    }
}
