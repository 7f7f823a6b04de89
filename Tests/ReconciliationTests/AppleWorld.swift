import Messages
import Observability
import Postgres
import ServerAPIAccess
import TestSupport

@testable import Reconciliation

/// A database, a scripted Apple, scripted services, and passes at any time.
struct AppleWorld: ~Copyable {
    let apple = ScriptedApple()
    let books = ScriptedBooks()
    let database: TestDatabase
    let metrics = Metrics()
    var connection: Connection
    var pass: ApplePass
    let round: FeedRound

    init(_ database: TestDatabase, _ settings: ApplePassSettings) throws {
        self.database = database
        try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
        connection = try database.open(role: "purser_reconciliation")
        let instruments = AppleMetrics(metrics)
        pass = ApplePass(
            settings: settings, door: apple, sources: books, instruments: instruments, logger: .silent)
        round = FeedRound(sources: books, instruments: instruments, logger: .silent)
    }

    /// A world of its own, on a thread that may block.
    static func with(
        _ name: String, _ settings: ApplePassSettings = ApplePassSettings(),
        _ body: @escaping @Sendable (inout AppleWorld) throws -> Void
    ) async throws {
        let database = try await TestDatabase.shared("apple_\(name)")
        try await onThread {
            var world = try AppleWorld(database, settings)
            try body(&world)
        }
    }

    /// A pass.
    mutating func run(at now: Int64, between: () -> Bool = { true }) throws {
        try pass.run([ScriptedApple.place], now: now, on: &connection) { _ in between() }
    }

    /// A look at what is handed in; what was.
    mutating func handIn(at now: Int64) throws -> [String] {
        try round.run(now: now, on: &connection)
        return books.taken()
    }

    /// A purchase is verified and known here; `account` is Apple's id of the buyer.
    mutating func buy(_ transaction: Int, account: String?, at time: Int64, takenIn now: Int64) throws {
        let id = TransactionID(String(transaction))
        var statement = VerifiedTransaction(
            environment: .production, transactionID: id, originalTransactionID: id,
            bundleID: ScriptedApple.place.bundleID, productID: ProductID("p"), productType: "Consumable",
            ownership: "PURCHASED", quantity: 1, purchaseDate: time, signedDate: time, payloadHash: "00")
        statement.appTransactionID = account
        let entry = EvidenceEntry(
            app: ScriptedApple.place.app, environment: .production, transactionID: id, orderNumber: nil,
            hasSubmitter: true, verifiedAt: time, statement: PurchaseStatement(statement))
        try connection.transaction {
            try PurchaseTable.record([entry], in: &$0)
            try AppleAccountTable.record([entry.key], now: now, in: &$0)
        }
        books.know(transaction, signedAt: time, share: 0)
    }

    /// Lines of a query of the superuser.
    func lines(_ sql: String) throws -> [String] {
        var connection = try database.open()
        return try connection.query("SELECT (\(sql))::text AS line").compactMap { try $0.optionalText("line") }
    }

    /// Findings, one line each.
    func findings() throws -> [String] {
        var connection = try database.open()
        return try connection.query(
            """
            SELECT kind || ' ' || right(subject, 4) || ' ' || state || ' ' || attempts || ' ' || severity AS line
            FROM reconciliation.findings ORDER BY id
            """
        ).map { try $0.text("line") }
    }
}
