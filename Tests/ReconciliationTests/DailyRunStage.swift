import Messages
import Observability
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Reconciliation

/// What the tests of the daily run have before them.
extension DailyRunTests {
    /// A database, services that say what the test says, and the run.
    struct World: ~Copyable {
        let database: TestDatabase
        let sources = ScriptedSources()
        var connection: Connection

        init(_ database: TestDatabase) throws {
            self.database = database
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            connection = try database.open(role: "purser_reconciliation")
        }

        var run: DailyRun { DailyRun(sources: sources, decisionTime: 120_000, logger: .silent) }

        /// Purchases of these hours after noon, verified and granted.
        mutating func sell(_ hours: [Int64]) throws {
            let entries = hours.enumerated().map { place, hours in
                var transaction = VerifiedTransaction(
                    environment: .production, transactionID: TransactionID("\(place + 1)"),
                    originalTransactionID: TransactionID("\(place + 1)"), bundleID: "b", productID: ProductID("p"),
                    productType: "Consumable", ownership: "PURCHASED", quantity: 1,
                    purchaseDate: noon + hours * hour, signedDate: noon + hours * hour, payloadHash: "00")
                transaction.price = 990
                transaction.currency = "EUR"
                transaction.storefront = "DEU"
                return EvidenceEntry(
                    app: AppID("game"), environment: .production, transactionID: transaction.transactionID,
                    orderNumber: nil, hasSubmitter: true, verifiedAt: noon + hours * hour + 1_000,
                    statement: PurchaseStatement(transaction))
            }
            try connection.transaction { try PurchaseTable.record(entries, in: &$0) }
            sources.script.withLock { script in
                for entry in entries {
                    script.outcomes[entry.key] = granted(entry.key, at: entry.verifiedAt + 2_000)
                }
            }
        }

        /// Lines of a query of the superuser.
        func lines(_ sql: String) throws -> [String] {
            var connection = try database.open()
            return try connection.query(sql).map { try $0.text("line") }
        }

        func findings() throws -> [String] {
            try lines("SELECT kind || ' ' || subject || ' ' || state AS line FROM reconciliation.findings ORDER BY 1")
        }
    }

    /// What Granting says of a purchase that it has granted.
    static func granted(
        _ key: PurchaseKey, at time: Int64, _ change: (inout PurchaseDetails) -> Void = { _ in }
    ) -> PurchaseState {
        let coins = [AssetAmount(asset: AssetID("COINS"), amount: 60)]
        var details = PurchaseDetails(
            app: AppID("game"), productID: ProductID("p"), quantity: 1, purchaseDate: time - 3_000,
            signedDate: time - 3_000, revokedShare: 0)
        details.customer = CustomerID("00000001-0000-4000-8000-000000000000")
        details.storefront = "DEU"
        (details.price, details.currency) = (990, "EUR")
        (details.orderNumber, details.orderStatus) = (OrderNumber("IAP1"), .completed)
        (details.grantedAt, details.appliedShare) = (time, 0)
        (details.amounts, details.expected, details.ledger) = (coins, coins, coins)
        change(&details)
        var state = PurchaseState(key: key, outcome: .granted)
        state.details = details
        return state
    }

    static func key(_ id: Int) -> PurchaseKey {
        PurchaseKey(environment: .production, transactionID: TransactionID("\(id)"))
    }

    static func plan(_ world: inout World, zone: String = "UTC") throws -> DayPlan {
        let clock = try DayPlan.clock(zone, on: &world.connection)
        return try #require(try DayPlan.day("2026-05-28", of: "game", zone: clock, on: &world.connection))
    }

    static func with(
        _ name: String, _ body: @escaping @Sendable (inout World) throws -> Void
    ) async throws {
        let database = try await TestDatabase.shared("daily_\(name)")
        try await onThread {
            var world = try World(database)
            try body(&world)
        }
    }
}
