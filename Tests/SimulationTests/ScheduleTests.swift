import Runtime
import Testing

@testable import Simulation

/// Lanes, broker and database in virtual time: every schedule must keep the invariants.
@Suite struct ScheduleTests {
    /// Enough that every fault meets every step of a batch many times; a minute of two cores.
    static let count = ProcessEnvironment.all["PURSER_SIMULATION_SEEDS"].flatMap { Int($0) } ?? 100_000

    @Test
    func `every schedule of a hundred thousand keeps the invariants (INV1 to INV8 C1 to C18 R06 R07 R10 R11 R25)`()
        async throws
    {
        let report = await Simulation.report(from: 1, count: Self.count)
        #expect(report.schedules == Self.count)
        if let failure = report.failure {
            Issue.record("seed \(failure.seed): \(failure.problem)\n\(failure.trace.joined(separator: "\n"))")
        }
    }

    @Test(arguments: [3, 977, 4_711] as [UInt64])
    func `a seed makes the same schedule again, step by step (R30)`(seed: UInt64) {
        #expect(Simulation.replay(seed).trace == Simulation.replay(seed).trace)
    }
}
