import Testing

@testable import Simulation

/// The simulation has to find every mistake that is made on purpose, or it proves nothing.
@Suite struct MutationTests {
    /// Schedules within which each must be found. The slowest takes some ten thousand, most take fewer than a hundred.
    static let limit = 80_000

    @Test(arguments: Mutation.allCases)
    func `a mistake made on purpose is found and made small`(mutation: Mutation) async throws {
        let report = await Simulation.report(from: 1, count: Self.limit, mutation: mutation)
        let failure = try #require(report.failure, "\(mutation) was not found in \(report.schedules) schedules")
        #expect(failure.trace.contains { $0.contains("FAILED") }, "what is left of the schedule fails too")
    }
}
