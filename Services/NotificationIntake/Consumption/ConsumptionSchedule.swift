/// The clock of a consumption request: how long Apple waits, when somebody is warned, when it is tried next. A pure
/// value; everything is milliseconds, times are since 1970.
struct ConsumptionSchedule: Sendable, Equatable {
    /// Apple wants the answer within 12 hours of the notification (its signed date).
    var limit: Int64 = 12 * Self.hour
    /// Half of it is over: somebody has time to mend what keeps the answer back.
    var firstAlert: Int64 = 6 * Self.hour
    /// The last call.
    var secondAlert: Int64 = 11 * Self.hour
    /// How long to wait before consent is asked for again, at first. A user who is asked by the app right after the
    /// request answers within minutes.
    var recheck: Int64 = 60_000
    /// The first wait after a failure; each further failure doubles it.
    var retry: Int64 = 5_000
    /// No wait is longer: Apple and the user get many chances within the hours.
    var longestWait: Int64 = 15 * 60_000
    /// How long a copy that took a request may be silent before another takes it: the longest question and the longest
    /// call, several times over.
    var lease: Int64 = 120_000

    private static let hour: Int64 = 3_600_000

    /// The last minutes, in which it is tried more often: a 72nd of the time (10 minutes of 12 hours).
    private var ending: Int64 { max(1, limit / 72) }

    /// Until when Apple waits for the answer to what it signed then.
    func deadline(signedAt date: Int64) -> Int64 {
        let (sum, overflow) = date.addingReportingOverflow(limit)
        return overflow ? .max : sum
    }

    /// How many warnings are due: 0, 1 or 2.
    func alerts(signedAt date: Int64, now: Int64) -> Int64 {
        if Self.age(of: date, now) >= secondAlert { return 2 }
        return Self.age(of: date, now) >= firstAlert ? 1 : 0
    }

    /// When consent is asked for again: a twentieth of the age later, so that a day of requests costs little.
    func nextCheck(signedAt date: Int64, deadline: Int64, now: Int64) -> Int64 {
        let wait = min(max(recheck, Self.age(of: date, now) / 20), max(longestWait, recheck))
        return within(deadline, now, wait: wait, shortest: recheck)
    }

    /// When it is tried again after `failures` failures in a row, not before `pause` has passed.
    func nextTry(failures: Int64, pause: Int64, deadline: Int64, now: Int64) -> Int64 {
        let doubled = retry << min(max(failures - 1, 0), 20)
        let wait = max(min(doubled, max(longestWait, retry)), pause)
        return within(deadline, now, wait: wait, shortest: max(retry, pause))
    }

    /// The wait, cut so that there is one try when the last minutes begin, and several within them. At the deadline it is
    /// looked at once more, to be closed.
    private func within(_ deadline: Int64, _ now: Int64, wait: Int64, shortest: Int64) -> Int64 {
        let last = deadline - ending
        let next = now + wait
        if next <= last { return next }
        if now < last, now + shortest <= last { return last }
        return max(now + 1, min(deadline, now + max(shortest, min(wait, ending / 10))))
    }

    private static func age(of date: Int64, _ now: Int64) -> Int64 {
        let (age, overflow) = now.subtractingReportingOverflow(date)
        return overflow ? .max : age
    }
}
