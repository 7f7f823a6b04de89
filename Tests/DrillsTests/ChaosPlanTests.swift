import Testing

@testable import Drills

@Suite struct ChaosPlanTests {
    private static let cast = ChaosPlan.Cast(
        services: ["verification", "granting", "gateway"], stores: ["verification", "granting"])

    private static func plan(_ seed: UInt64, _ seconds: Int = 120) -> ChaosPlan {
        ChaosPlan(seed: seed, seconds: seconds, cast: cast)
    }

    @Test func `the same seed and duration give the same plan, other seeds others (R30)`() {
        #expect(Self.plan(42) == Self.plan(42))
        #expect(Self.plan(42).text == Self.plan(42).text)
        #expect(Set((0..<50).map { Self.plan($0).text }).count == 50)
        #expect(Self.plan(42, 60).entries != Self.plan(42, 120).entries)
    }

    @Test func `the plan of a seed never changes unnoticed: a seed that failed must stay worth something (R30)`() {
        let lines = Self.plan(1, 20).text.split(separator: "\n").prefix(3)
        #expect(
            lines == [
                "   0.500  memory-alarm         -              for 2.455 s",
                "   4.955  half-open-database   granting       for 2.436 s",
                "   4.955  kill                 gateway",
            ])
    }

    @Test func `every kind of fault happens in 120 seconds, whatever the seed (R01 R02 R03 R04 R05 R12 R13 R14)`() {
        for seed in UInt64(0)..<1_000 {
            let kinds = Set(Self.plan(seed).entries.map(\.fault))
            #expect(kinds.count == Fault.allCases.count, "seed \(seed)")
        }
    }

    @Test(arguments: [5, 20, 60, 120, 300]) func `faults stay within the duration, by time`(seconds: Int) {
        for seed in UInt64(0)..<100 {
            let entries = Self.plan(seed, seconds).entries
            #expect(entries.allSatisfy { $0.at >= 0 && $0.until <= seconds * 1_000 })
            #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.at <= $1.at })
        }
    }

    @Test func `nothing is killed while the broker or the database is away, nor what is frozen or cut off`() {
        for seed in UInt64(0)..<200 {
            let entries = Self.plan(seed).entries
            for kill in entries where kill.fault == .kill {
                let others = entries.filter { $0.fault != .kill && $0.at <= kill.at && kill.at < $0.until }
                #expect(!others.contains { $0.fault.isOutage }, "seed \(seed)")
                #expect(!others.contains { $0.victim == kill.victim }, "seed \(seed)")
            }
        }
    }

    @Test func `every process is killed in some plan, about every two seconds`() {
        var victims: Set<String> = []
        for seed in UInt64(0)..<20 {
            let kills = Self.plan(seed).entries.filter { $0.fault == .kill }
            #expect(kills.count >= 15, "seed \(seed)")
            victims.formUnion(kills.map(\.victim))
        }
        #expect(victims == ["verification", "granting", "gateway", "simulator"])
    }
}
