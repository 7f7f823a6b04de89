import AppStoreSimulation
import TestSupport

/// Has days compared by `purser reconcile`, and tells how long each run took by its own account. Blocking.
struct DailyRuns {
    let site: Site
    let plan: MonthPlan
    let clock: MonthClock
    let patience: Patience

    /// The run of everything that was granted since the drill began: all of the month, on one day, or on two if midnight
    /// passed meanwhile. Seconds of the runs.
    func today(_ books: inout MonthBooks) throws -> Double {
        let days = MonthClock(now: WallClock.milliseconds()).midnight - clock.midnight
        return try run(stride(from: 0, through: Int(days / 86_400), by: 1).map { -$0 }, &books)
    }

    /// The runs of all days of the month by their purchases' dates. Seconds in all.
    func month(_ books: inout MonthBooks) throws -> Double { try run(Array(1...plan.days), &books) }

    private func run(_ days: [Int], _ books: inout MonthBooks) throws -> Double {
        for day in days {
            let date = clock.date(daysAgo: day)
            let outcome = try site.attempt(
                "purser", ["reconcile", "--date", date, "--app", "cloudpc", "--wait", String(Int(patience.limit))])
            // 1 also if something critical waits, which is what was planted.
            guard outcome.output.contains(" purchases, "), outcome.status <= 1 else {
                throw Site.Failure(description: "no run of \(date): \(outcome.output)")
            }
        }
        return try books.secondsOfRuns(days.map { clock.date(daysAgo: $0) })
    }

    /// The most memory that the process of a service ever had (MB); nil if it cannot be read.
    func peak(of service: String) -> Double? { site.pid(of: service).flatMap { MemoryWatch.megabytes($0, "VmHWM") } }
}
