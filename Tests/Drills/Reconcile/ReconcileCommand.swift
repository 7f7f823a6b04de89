/// `purser-drills reconcile [COUNT] [SEED]`: plants differences of every kind in a month of purchases and sees whether
/// reconciliation finds each of them and nothing else. docs/guides/reconcile-drill.md tells more.
enum ReconcileCommand {
    private static let usualCount = 100_000

    /// Exit code: 0 everything held, 1 something did not, 2 it could not be found out.
    static func run(_ arguments: [String]) -> Int32 {
        let numbers = arguments.compactMap { UInt64($0) }
        guard numbers.count == arguments.count, numbers.count <= 2, (100...1_000_000).contains(numbers.first ?? 100)
        else {
            print("usage: purser-drills reconcile [COUNT (100…1000000)] [SEED]")
            return 2
        }
        let count = numbers.first.map { Int($0) } ?? usualCount
        // Small enough to be typed.
        let seed = numbers.count == 2 ? numbers[1] : UInt64.random(in: 1...999_999)
        do {
            return try ReconcileRun(DrillSettings(), count: count, seed: seed).run()
        } catch {
            print(
                "the reconciliation cannot be tried: \(error)\nseed \(seed); logs: logs/ beside the deployment's state")
            return 2
        }
    }
}
