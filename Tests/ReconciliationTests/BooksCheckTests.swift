import Messages
import Observability
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// Wallets and purchases whose books do not agree, as cases on a real database.
@Suite(.timeLimit(.minutes(3))) struct BooksCheckTests {
    private static let customers = (1...3).map { CustomerID("0000000\($0)-0000-4000-8000-000000000000") }

    /// A page that ends with a customer; nil: the last one.
    private static func page(
        to last: Int?, _ differences: [(customer: Int, balance: Int64, ledger: Int64, lots: Int64)] = []
    ) -> BooksPageAnswered {
        BooksPageAnswered(
            customers: 1, last: last.map { customers[$0] }, hasMore: last != nil,
            differences: differences.map {
                BooksDifference(
                    app: AppID("game"), customer: customers[$0.customer], asset: AssetID("COINS"), balance: $0.balance,
                    ledger: $0.ledger, lots: $0.lots, newest: $0.ledger, brokenLines: 0)
            }, totals: [], risks: [])
    }

    private static func with(
        _ name: String, _ body: @escaping @Sendable (TestDatabase, inout Connection, ScriptedSources) throws -> Void
    ) async throws {
        let database = try await TestDatabase.shared("books_\(name)")
        try await onThread {
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            var connection = try database.open(role: "purser_reconciliation")
            try body(database, &connection, ScriptedSources())
        }
    }

    private static func findings(_ database: TestDatabase) throws -> [String] {
        var connection = try database.open()
        return try connection.query(
            """
            SELECT kind || ' ' || split_part(subject, '-', 1) || ' ' || state || ' ' || attempts AS line
            FROM reconciliation.findings ORDER BY kind, subject, id
            """
        ).map { try $0.text("line") }
    }

    @Test func `what differs is one case, and ends when its own page shows it no more (A-121 R28)`() async throws {
        try await Self.with("pass") { database, connection, sources in
            sources.script.withLock {
                $0.books = [
                    "": Self.page(to: 0, [(0, 61, 60, 60)]), Self.customers[0].rawValue: Self.page(to: 1),
                    Self.customers[1].rawValue: Self.page(to: nil, [(2, 60, 60, 59)]),
                ]
            }
            let check = BooksCheck(sources: sources)
            let result1 = try check.run(1_000, &connection)
            #expect(result1.opened == 2)
            let result2 = try check.run(2_000, &connection)
            #expect(result2.opened == 0)
            let open = ["balance_differs game/00000001 open 0", "lots_differ game/00000003 open 0"]
            #expect(try Self.findings(database) == open)
            sources.script.withLock { $0.books[Self.customers[1].rawValue] = Self.page(to: nil) }
            let result3 = try check.run(3_000, &connection)
            #expect(result3.resolved == 1)
            #expect(try Self.findings(database) == [open[0], "lots_differ game/00000003 resolved 0"])
        }
    }

    @Test func `while nobody answers a pass stays where it is, and ends no case`() async throws {
        try await Self.with("silent") { database, connection, sources in
            sources.script.withLock { $0.books = ["": Self.page(to: nil, [(0, 61, 60, 60)])] }
            let check = BooksCheck(sources: sources)
            _ = try check.run(1_000, &connection)
            sources.script.withLock { $0.isSilent = true }
            do {
                _ = try check.run(2_000, &connection)
                Issue.record("nobody has answered")
            } catch {}
            #expect(try Self.findings(database) == ["balance_differs game/00000001 open 0"])
        }
    }

    @Test func `a lost refund is said again until Granting knows it; amounts that agree again are no case (A-122)`()
        async throws
    {
        try await Self.with("cases") { database, connection, sources in
            let key = PurchaseComparisonTests.key
            try connection.transaction { transaction in
                try PurchaseTable.record(
                    [PurchaseTableTests.entry("1", signed: 4_000, share: 100_000)], in: &transaction)
                let wrong = PurchaseComparison(
                    evidence: PurchaseComparisonTests.evidence(), state: PurchaseComparisonTests.granted(),
                    isGrantedAsVerified: true)
                _ = try FindingStore.open(
                    [wrong.finding(.refundMissed), wrong.finding(.amountDiffers)], now: 1_000, in: &transaction)
            }
            sources.script.withLock { $0.outcomes[key] = PurchaseComparisonTests.granted { $0.ledger = [] } }
            let review = CaseReview(sources: sources)
            let result4 = try review.run(2_000, &connection)
            #expect(result4.redriven == 1)
            let result5 = try review.run(3_000, &connection)
            #expect(result5.redriven == 0, "the pause is not over")
            #expect(
                try Self.findings(database) == [
                    "amount_differs Production/1 open 0", "refund_missed Production/1 redriven 1",
                ])
            sources.script.withLock {
                $0.outcomes[key] = PurchaseComparisonTests.granted {
                    $0.signedDate = 4_000
                    $0.revokedShare = 100_000
                }
            }
            let result6 = try review.run(70_000, &connection)
            #expect(result6.resolved == 2)
            #expect(sources.script.withLock { $0.redriven } == [key])
        }
    }
}
