import Messages
import Postgres
import TestSupport
import Testing

@testable import Reconciliation

/// What Apple signed about purchases, as it is kept for the daily run.
@Suite(.timeLimit(.minutes(2))) struct PurchaseTableTests {
    /// A statement signed at `signed`; `share` in thousandths of a per cent.
    static func entry(
        _ id: String, signed: Int64, share: Int64 = 0, order: String? = nil, submitted: Bool = false,
        verified: Int64 = 5_000, price: Int64? = 990
    ) -> EvidenceEntry {
        var transaction = VerifiedTransaction(
            environment: .production, transactionID: TransactionID(id), originalTransactionID: TransactionID(id),
            bundleID: "b", productID: ProductID("p"), productType: price == nil ? "" : "Consumable",
            ownership: "PURCHASED", quantity: 1, purchaseDate: 1_000, signedDate: signed, payloadHash: "00")
        transaction.price = price
        transaction.storefront = price == nil ? nil : "DEU"
        if share > 0 {
            transaction.revocationDate = signed
            transaction.revocationPercentage = share
        }
        return EvidenceEntry(
            app: AppID("game"), environment: .production, transactionID: TransactionID(id),
            orderNumber: order.map { OrderNumber($0) }, hasSubmitter: submitted, verifiedAt: verified,
            statement: PurchaseStatement(transaction))
    }

    /// Three statements about one purchase: bought, half refunded, and what a receipt says of it, which is less.
    private static let said = [
        entry("1", signed: 2_000, order: "IAP1", submitted: true, verified: 5_000),
        entry("1", signed: 3_000, share: 50_000, verified: 6_000),
        entry("1", signed: 2_500, verified: 4_000, price: nil),
    ]

    private static let orders = [
        [[0], [1], [2]], [[2], [1], [0]], [[1], [0, 2]], [[0, 1, 2]], [[0, 1, 2], [2, 1, 0]], [[1, 2], [0]],
    ]

    @Test(arguments: orders)
    func `in whatever order statements come, the newest one stands (A-121)`(pages: [[Int]]) async throws {
        let name = pages.map { $0.map(String.init).joined() }.joined(separator: "_")
        let database = try await TestDatabase.shared("purchases_\(name)")
        try await onThread {
            try database.migrate(ReconciliationProgram.name, ReconciliationProgram.migrations)
            var connection = try database.open(role: "purser_reconciliation")
            for page in pages {
                try connection.transaction { try PurchaseTable.record(page.map { Self.said[$0] }, in: &$0) }
            }
            let row = try connection.query(
                """
                SELECT concat_ws(' ', app, order_number, has_submitter, verified_at, product_type, signed_date,
                    revocation_date, revoked_share, price, storefront) AS line FROM reconciliation.purchases
                """
            ).single()
            #expect(try row.text("line") == "game IAP1 t 4000 Consumable 3000 3000 50000 990 DEU")
        }
    }
}
