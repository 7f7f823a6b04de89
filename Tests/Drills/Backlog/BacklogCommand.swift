/// `purser-drills backlog [COUNT]`: how fast a queue that has piled up is worked off, against the steady rate of the same
/// run. docs/guides/chaos.md tells more.
enum BacklogCommand {
    /// What must be worked off.
    private static let usualCount = 20_000

    /// Exit code: 0 everything held, 1 something did not, 2 it could not be found out.
    static func run(_ arguments: [String]) -> Int32 {
        let numbers = arguments.compactMap { Int($0) }
        guard numbers.count == arguments.count, numbers.count <= 1, (100...1_000_000).contains(numbers.first ?? 100)
        else {
            print("usage: purser-drills backlog [COUNT (100…1000000)]")
            return 2
        }
        do {
            return try BacklogRun(DrillSettings(), count: numbers.first ?? usualCount).run()
        } catch {
            print("the backlog cannot be measured: \(error)")
            return 2
        }
    }
}
