import Testing

@testable import NotificationIntake

/// The clock of consumption requests, without waiting for it.
@Suite struct ConsumptionScheduleTests {
    private static let second: Int64 = 1_000
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000
    private static let schedule = ConsumptionSchedule()
    private static let signed: Int64 = 1_780_000_000_000

    @Test func `Apple waits 12 hours from the signed date (A-117)`() {
        #expect(Self.schedule.deadline(signedAt: Self.signed) == Self.signed + 43_200_000)
        #expect(Self.schedule.deadline(signedAt: .max) == .max)
    }

    /// Age of the request, warnings due.
    private static let warnings: [(age: Int64, alerts: Int64)] = [
        (-1, 0), (0, 0), (6 * hour - 1, 0), (6 * hour, 1), (11 * hour - 1, 1), (11 * hour, 2), (12 * hour, 2),
        (100 * hour, 2),
    ]

    @Test(arguments: warnings.indices) func `warnings are due at 6 and at 11 hours (A-117)`(place: Int) {
        let (age, alerts) = Self.warnings[place]
        #expect(Self.schedule.alerts(signedAt: Self.signed, now: Self.signed + age) == alerts)
    }

    /// Age of the request, until consent is asked for again.
    private static let checks: [(age: Int64, wait: Int64)] = [
        (0, minute), (10 * minute, minute), (20 * minute, minute), (hour, 3 * minute), (4 * hour, 12 * minute),
        (5 * hour, 15 * minute), (11 * hour, 15 * minute),
        // The last minutes: at their beginning, then once a minute, and at the deadline to be closed.
        (11 * hour + 40 * minute, 10 * minute), (11 * hour + 50 * minute, minute),
        (11 * hour + 59 * minute + 30 * second, 30 * second), (12 * hour - 1, 1), (12 * hour, 1),
    ]

    @Test(arguments: checks.indices) func `consent is asked for again, less often with time, often at the end`(
        place: Int
    ) {
        let (age, wait) = Self.checks[place]
        let next = Self.schedule.nextCheck(
            signedAt: Self.signed, deadline: Self.signed + 12 * Self.hour, now: Self.signed + age)
        #expect(next - Self.signed - age == wait)
    }

    /// Failures in a row, a pause asked for, time left, until the next try.
    private static let tries: [(failures: Int64, pause: Int64, left: Int64, wait: Int64)] = [
        (1, 0, 12 * hour, 5 * second), (2, 0, 12 * hour, 10 * second), (3, 0, 12 * hour, 20 * second),
        (7, 0, 12 * hour, 320 * second), (8, 0, 12 * hour, 640 * second), (9, 0, 12 * hour, 15 * minute),
        (1_000, 0, 12 * hour, 15 * minute), (1, 30 * minute, 12 * hour, 30 * minute),
        (9, hour, 12 * hour, hour), (9, 0, 20 * minute, 10 * minute), (9, 0, 10 * minute, minute),
        (1, 0, 9 * minute, 5 * second), (1, 2 * minute, 9 * minute, 2 * minute), (1, hour, 9 * minute, 9 * minute),
        (9, 0, 30 * second, 30 * second), (9, 0, 0, 1), (0, 0, 12 * hour, 5 * second),
    ]

    @Test(arguments: tries.indices) func `failures are tried again ever later, a pause is kept, the end is not missed`(
        place: Int
    ) {
        let row = Self.tries[place]
        let now = Self.signed
        let next = Self.schedule.nextTry(failures: row.failures, pause: row.pause, deadline: now + row.left, now: now)
        #expect(next - now == row.wait)
    }

    @Test func `whatever the settings, time goes on and nothing is planned beyond the deadline`() {
        for limit: Int64 in [1_000, 6_000, 60_000, 43_200_000] {
            var schedule = ConsumptionSchedule()
            (schedule.limit, schedule.retry, schedule.recheck) = (limit, 1_000, 1_000)
            for step: Int64 in 0...200 {
                let now = Self.signed + limit * step / 200
                let deadline = Self.signed + limit
                for failures: Int64 in [1, 5, 60] {
                    let next = schedule.nextTry(failures: failures, pause: 0, deadline: deadline, now: now)
                    #expect(next > now && next <= max(deadline, now + 1), "\(limit) \(step) \(failures)")
                }
                let next = schedule.nextCheck(signedAt: Self.signed, deadline: deadline, now: now)
                #expect(next > now && next <= max(deadline, now + 1), "\(limit) \(step)")
            }
        }
    }
}
