import Testing

@testable import AppStoreServerAPI

@Suite struct RateBudgetTests {
    private let start = ContinuousClock.now

    @Test(arguments: RateBudget.Class.allCases)
    func `a second's worth of Apple's rate may be used at once, then it refills`(_ kind: RateBudget.Class) {
        let budget = RateBudget()
        for _ in 0..<Int(kind.perSecond) { #expect(budget.take(kind, now: start) == nil) }
        let wait = budget.take(kind, now: start)
        #expect(wait != nil)
        #expect(budget.take(kind, now: start + .seconds(1.001 / kind.perSecond)) == nil)
    }

    @Test
    func `a share lowers the rate, and classes do not use up each other`() {
        let budget = RateBudget(share: 0.1)
        for _ in 0..<5 { #expect(budget.take(.ordinary, now: start) == nil) }
        #expect(budget.take(.ordinary, now: start) != nil)
        #expect(budget.take(.lookup, now: start) == nil)
        #expect(budget.take(.lookup, now: start) != nil, "one a second")
    }

    @Test(
        arguments: [
            ("1700000005000", Duration.seconds(5)), (nil, .seconds(60)), ("soon", .seconds(60)),
            ("120", .seconds(60)), ("9999999999999999", .seconds(3_600)), ("99999999999999999999", .seconds(60)),
        ] as [(String?, Duration)])
    func `a header that makes no sense neither stops the calls for ever nor lets them go on`(
        _ header: String?, _ pause: Duration
    ) {
        let budget = RateBudget()
        #expect(budget.exceeded(retryAfter: header, wallClock: 1_700_000_000_000, now: start) == pause)
        #expect(budget.take(.lookup, now: start + pause - .milliseconds(1)) == .milliseconds(1))
        #expect(budget.take(.lookup, now: start + pause) == nil)
    }

    @Test
    func `a shorter pause told later does not end a longer one`() {
        let budget = RateBudget()
        _ = budget.exceeded(retryAfter: "1700000100000", wallClock: 1_700_000_000_000, now: start)
        _ = budget.exceeded(retryAfter: "1700000001000", wallClock: 1_700_000_000_000, now: start)
        #expect(budget.take(.ordinary, now: start + .seconds(50)) == .seconds(50))
    }
}
