/// When a lane has its statements planned anew, although they are kept: a plan is made for the sizes the tables have at
/// that moment, and what was right for fifty rows may read all of them for each key when there are a million.
///
/// After twice as many batches as at the last time, so while tables are small and grow fast; and every ten seconds, for
/// what other lanes do. That bounds how wrong a plan can be, and costs a few milliseconds of planning each time.
struct PlanRenewal {
    /// Planning everything takes 3 to 5 ms: a two-thousandth of this.
    static let interval: Duration = .seconds(10)
    /// What makes PostgreSQL plan anew; it may be part of a transaction.
    static let statement = "DISCARD PLANS"

    private var batches = 0
    private var nextTime: ContinuousClock.Instant?

    /// Counts a batch; whether plans are to be made anew before it.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        batches += 1
        let hasDoubled = batches & (batches - 1) == 0
        guard hasDoubled || nextTime.map({ now >= $0 }) ?? true else { return false }
        nextTime = now + Self.interval
        return true
    }
}
