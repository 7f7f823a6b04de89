import AMQP
import Messages
import Observability
import TestSupport
import Testing

@testable import Reconciliation

/// What operators hand in and ask for, stopped at every place a lane can die at.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OperatorRequestsCrashTests {
    private static func stage(_ name: String) async throws -> ReconciliationStage {
        ReconciliationStage(
            lane: try await LaneStage.make(
                suite: "recon_requests", name: name, queue: Topology.reconciliationCommands,
                migrations: ReconciliationProgram.migrations))
    }

    @Test(arguments: LaneFault.allCases)
    func `a run that is asked for is written down once, and answered with its number (C1 C2 C3 C4 C7 C8)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage("runs_" + fault.rawValue)
        try await onThread {
            let asked = try (1...12).map {
                try stage.lane.request(
                    ReconciliationRunRequested(date: "2026-11-\($0 + 10)", app: $0 % 2 == 0 ? nil : AppID("game")))
            }
            try stage.lane.survive(
                fault, asked, fact: .reconciliationRunAnswered, handler: { AcceptRunRequests(now: { 5 }) }
            ) { try stage.number("SELECT count(*) FROM reconciliation.run_requests") == 12 }
            #expect(try stage.lane.leftovers() == [])
            #expect(
                try stage.texts("SELECT cause::text AS t FROM reconciliation.run_requests ORDER BY 1")
                    == asked.map(\.id.rawValue).sorted())
            let answers = try stage.lane.answers().answers(ReconciliationRunAnswered.self)
            var numbers: Set<Int64> = []
            for request in asked {
                let told = Set((answers[request.id] ?? []).compactMap(\.request))
                #expect(told.count == 1, "the same number each time")
                numbers.formUnion(told)
            }
            #expect(numbers.count == 12)
        }
    }

    @Test(arguments: LaneFault.allCases)
    func `a sales report is stored once, part by part, whatever comes twice (C1 C2 C3 C4 C7 C8)`(
        fault: LaneFault
    ) async throws {
        let stage = try await Self.stage("sales_" + fault.rawValue)
        try await onThread {
            let report = "0c4f6f0e-0000-4000-8000-000000000001"
            let parts = try (1...12).map { part in
                try stage.lane.request(
                    SalesImportRequested(
                        reportID: report, app: AppID("game"), begin: "2026-11-29", end: "2026-11-29",
                        part: Int64(part), parts: 12,
                        lines: [
                            .init(
                                productID: ProductID("p\(part)"), storefront: "DEU", sold: Int64(part), refunded: 1),
                            .init(productID: ProductID("p\(part)"), storefront: "USA", sold: 1, refunded: 0),
                        ], actor: "ops"))
            }
            try stage.lane.survive(
                fault, parts, fact: .salesImportAnswered, handler: { StoreSalesReports(logger: .silent, now: { 5 }) }
            ) { try stage.number("SELECT count(*) FROM reconciliation.sales_parts") == 12 }
            #expect(try stage.lane.leftovers() == [])
            #expect(
                try stage.texts(
                    """
                    SELECT concat_ws(' ', (SELECT count(*) FROM reconciliation.sales_reports), count(*), sum(sold),
                        sum(refunded)) AS t FROM reconciliation.sales_lines
                    """) == ["1 24 90 12"])
            let answers = try stage.lane.answers().answers(SalesImportAnswered.self)
            #expect(Set(answers.keys) == Set(parts.map(\.id)))
            #expect(answers.values.joined().contains { $0.isComplete && $0.parts == 12 })
        }
    }
}
