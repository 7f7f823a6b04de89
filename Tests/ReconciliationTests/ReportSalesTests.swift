import Messages
import Postgres
import TestSupport
import Testing

@testable import Reconciliation

/// What a day's report says besides its purchases.
extension DailyRunTests {
    /// The lines of a report's Markdown below a title, its head left out.
    private static func section(_ title: String, _ world: borrowing World) throws -> [String] {
        let page = try world.lines("SELECT markdown AS line FROM reconciliation.runs").joined()
        let parts = page.split(separator: "## \(title)\n", maxSplits: 1)
        guard parts.count == 2, let body = parts[1].split(separator: "\n## ").first else { return [] }
        return body.split(separator: "\n").filter { !$0.hasPrefix("|---") }.dropFirst().map(String.init)
    }

    @Test func `the report tells which sales Apple counts otherwise, and which reports there are (C-119)`() async throws
    {
        try await Self.with("sales") { world in
            try world.sell([0, 1, 2])
            try world.database.execute(
                """
                INSERT INTO reconciliation.sales_reports (report, app, begin_day, end_day, parts, actor, imported_at)
                VALUES ('00000000-0000-4000-8000-000000000001', 'game', '2026-05-28', '2026-05-28', 1, 'ops', 1),
                    ('00000000-0000-4000-8000-000000000002', 'game', '2026-05-28', '2026-05-28', 1, 'ops', 2),
                    ('00000000-0000-4000-8000-000000000003', 'game', '2026-05-27', '2026-05-27', 2, 'ops', 2),
                    ('00000000-0000-4000-8000-000000000004', 'other', '2026-05-28', '2026-05-28', 1, 'ops', 2);
                INSERT INTO reconciliation.sales_parts SELECT report, 1 FROM reconciliation.sales_reports;
                INSERT INTO reconciliation.sales_lines (report, product_id, storefront, sold, refunded)
                VALUES ('00000000-0000-4000-8000-000000000001', 'p', 'DEU', 9, 0),
                    ('00000000-0000-4000-8000-000000000002', 'p', 'DEU', 4, 1);
                UPDATE reconciliation.sales_reports SET imported_at = imported_at + \(Self.noon);
                """)
            let tolerance = SalesTolerance(
                timeZone: "America/Los_Angeles", border: 300_000, units: 0, commissions: [:])
            _ = try SalesCheck(tolerance: tolerance).run(now: Self.now, on: &world.connection)
            _ = try world.run.run(try Self.plan(&world), now: Self.now, on: &world.connection)
            #expect(
                try Self.section("Sales that Apple counts otherwise", world)
                    == ["| 2026-05-28 | 2026-05-28 | p | DEU | 4 | 3 | 1 | 0 |"])
            #expect(
                try Self.section("Apple's sales reports of 35 days", world)
                    == ["| 2026-05-28 | 2026-05-28 | 4 | 1 | 1 | 1 | 2026-05-29 12:00 |"],
                "the last one that is whole")
        }
    }

    @Test func `the report counts all that waits, not only what it lists`() async throws {
        try await Self.with("many") { world in
            try world.database.execute(
                """
                INSERT INTO reconciliation.findings (kind, subject, severity, app, evidence, opened_at, seen_at, next_at)
                SELECT 'order_behind', n::text, CASE WHEN n <= 3 THEN 'critical' ELSE 'warning' END, 'game', '{}', 1, 1, 1
                FROM generate_series(1, 70) AS n
                """)
            _ = try world.run.run(try Self.plan(&world), now: Self.now, on: &world.connection)
            #expect(try Self.section("Findings that wait", world).count == 50)
            let page = try world.lines("SELECT markdown AS line FROM reconciliation.runs").joined()
            #expect(page.contains("| Findings waiting | **70, 3 of them critical** |"))
        }
    }
}
