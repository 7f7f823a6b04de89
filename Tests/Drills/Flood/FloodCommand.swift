import Glibc

/// `purser-drills flood [PURCHASES] [FILE]`: how long a paying user waits while others flood the gateway.
///
/// For each kind of flood in turn: so many purchases alone, then so many during it. Writes what it found to a file as
/// JSON. Exit code: 0 the 99th percentile is at most doubled, 1 a purchase was not granted, 2 it could not run, 3 more
/// than doubled.
enum FloodCommand {
    /// Enough that the 99th percentile of all turns is no single accident, and that all takes about a minute.
    private static let usualPurchases = 400

    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count <= 2, let purchases = Int(arguments.first ?? String(usualPurchases)),
            (20...5_000).contains(purchases), let state = getenv("PURSER_STATE").map({ String(cString: $0) })
        else {
            print("usage: purser-drills flood [PURCHASES] [FILE], 20…5000 purchases a turn; PURSER_STATE must be set")
            return 2
        }
        do {
            var run = try FloodRun(purchases: purchases, folder: state)
            let report = try run.run()
            report.print()
            if arguments.count == 2, !report.write(to: arguments[1]) {
                print("\(arguments[1]) cannot be written")
                return 2
            }
            return report.exitCode
        } catch {
            print("the flood cannot run: \(error)")
            return 2
        }
    }
}
