import Testing

@testable import Drills

@Suite struct MonthPlanTests {
    @Test func `the same seed gives the same month, another one another`() {
        let plan = MonthPlan(count: 1_000, seed: 7)
        let again = MonthPlan(count: 1_000, seed: 7)
        let other = MonthPlan(count: 1_000, seed: 8)
        #expect((0..<100).map(plan.purchase) == (0..<100).map(again.purchase))
        #expect((0..<100).map(plan.purchase) != (0..<100).map(other.purchase))
        #expect(plan.sales() == again.sales() && plan.wallets() == again.wallets())
    }

    @Test(arguments: [100, 300, 2_000, 100_000]) func `one in a hundred of each kind, and no wallet is broken twice`(
        count: Int
    ) {
        let plan = MonthPlan(count: count, seed: 3)
        let (doubled, overpaid) = plan.wallets()
        #expect(plan.share == count / 100 && plan.behind.count == plan.share)
        #expect(doubled.count == plan.share && overpaid.count == plan.share)
        let users = (doubled + overpaid).map { plan.purchase($0).user }
        #expect(Set(users).count == users.count)
        #expect((doubled + overpaid).allSatisfy { (0..<plan.submitted).contains($0) })
    }

    @Test func `the reports tell of every purchase, and one row in a hundred is off by one`() {
        let plan = MonthPlan(count: 3_000, seed: 5)
        let rows = plan.sales()
        #expect(rows.map(\.sold).reduce(0, +) == plan.submitted)
        let wrong = rows.compactMap { row in row.told.map { abs($0 - row.sold) } }
        #expect(wrong.count == rows.count / 100 && wrong.allSatisfy { $0 == 1 })
        #expect(rows.allSatisfy { ($0.told ?? $0.sold) >= 1 })
    }

    @Test func `days are UTC's, as our reports and Apple's write them`() {
        let clock = MonthClock(now: 1_796_094_000_123)
        #expect(clock.date(daysAgo: 0) == "2026-12-01" && clock.date(daysAgo: 1) == "2026-11-30")
        #expect(clock.reportDate(daysAgo: 30) == "11/01/2026")
        #expect(clock.time(daysAgo: 1, second: 3_600) == clock.midnight * 1_000 - 82_800_000)
    }
}

@Suite struct PlantedDifferencesTests {
    private typealias Case = PlantedDifferences.Case

    private static func planted() -> PlantedDifferences {
        var planted = PlantedDifferences()
        planted.add(.lostRefund, ("notification_missed", "Production/1"))
        planted.add(.doubledLine, ("amount_differs", "Production/2"), ("balance_differs", "cloudpc/c/A"))
        return planted
    }

    private static let right = [
        Case(kind: "notification_missed", subject: "Production/1", state: "resolved"),
        Case(kind: "amount_differs", subject: "Production/2", state: "open"),
        Case(kind: "balance_differs", subject: "cloudpc/c/A", state: "open"),
    ]

    private static func isRight(_ cases: [PlantedDifferences.Case]) -> Bool {
        let (results, wrong) = planted().compare(cases)
        return wrong.isEmpty && results.allSatisfy(\.isRight)
    }

    @Test func `every case of every planted one, repaired or open as it must be, is right`() {
        #expect(Self.isRight(Self.right))
        let (results, _) = Self.planted().compare(Self.right)
        #expect(results.map(\.planted).reduce(0, +) == 2 && results.map(\.findings).reduce(0, +) == 3)
    }

    @Test func `one that is missing, that nobody planted, that is told twice or in the wrong state is not`() {
        for place in Self.right.indices {
            var cases = Self.right
            cases.remove(at: place)
            #expect(!Self.isRight(cases))
            #expect(!Self.isRight(Self.right + [Self.right[place]]))
            cases = Self.right
            cases[place] = Case(
                kind: cases[place].kind, subject: cases[place].subject,
                state: cases[place].state == "open" ? "resolved" : "open")
            #expect(!Self.isRight(cases))
        }
        #expect(!Self.isRight(Self.right + [Case(kind: "refund_missed", subject: "Production/1", state: "open")]))
    }
}
