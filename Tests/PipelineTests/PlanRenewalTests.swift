import Testing

@testable import Pipeline

/// When a lane has its statements planned anew.
@Suite struct PlanRenewalTests {
    @Test func `plans are made anew whenever twice as many batches were run`() {
        var renewal = PlanRenewal()
        let now = ContinuousClock.now
        var due: [Int] = []
        for batch in 1...40 where renewal.isDue(at: now) { due.append(batch) }
        #expect(due == [1, 2, 4, 8, 16, 32])
    }

    @Test func `plans are made anew when the last ones are ten seconds old`() {
        var renewal = PlanRenewal()
        var now = ContinuousClock.now
        for _ in 1...1_025 { _ = renewal.isDue(at: now) }
        let due = [9, 1, 0].map { seconds in
            now += .seconds(seconds)
            return renewal.isDue(at: now)
        }
        #expect(due == [false, true, false])
    }
}
