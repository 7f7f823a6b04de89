import AppStore
import Crypto
import FoundationEssentials
import LegacyReceipts
import Messages
import Observability
import Pipeline
import Postgres
import TestSupport
import Testing
import Trust

@testable import Control
@testable import Granting
@testable import Verification

/// Receipts that Apple's own tools made, from a client's text to the wallet, trusting Apple's roots alone. What is in the
/// genuine one belongs to somebody: nothing of it is told here.
@Suite(.serialized, .timeLimit(.minutes(5))) struct GenuineReceiptTests {
    private static let bundleID = "dev.bonzer.weeka.app"

    private struct NoReceipt: Error {}

    private static func text(_ name: String, file: String = #filePath) throws -> String {
        let tests = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
        let bytes = Array(try Data(contentsOf: tests.appendingPathComponent("Fixtures/receipts/\(name)")))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func apps(_ environments: [AppStoreEnvironment]) -> [AcceptedApp] {
        [AcceptedApp(id: AuditedDatabase.app.rawValue, bundleIDs: [bundleID], environments: environments)]
    }

    /// What is in the genuine one, to make a catalogue for it.
    private static func genuine() throws -> AppReceipt {
        guard case .receipt(let bytes) = try ReceiptText(Array(try text("receipt-sandbox-g5.b64").utf8)) else {
            throw NoReceipt()
        }
        return try ReceiptVerifier(apps: apps([.sandbox])).verify(bytes, now: WallClock.milliseconds).receipt
    }

    /// Hands a receipt in, as the services do.
    private static func submit(
        _ name: String, _ product: String, to database: AuditedDatabase, by user: UserID,
        environments: [AppStoreEnvironment] = AppStoreEnvironment.allCases
    ) throws -> [Fact] {
        let apps = apps(environments)
        let handler = VerifyPurchases(
            verifier: try SignedDataVerifier(apps: apps, roots: try AppleRoots.certificates()),
            receipts: try ReceiptVerifier(apps: apps), metrics: Metrics(), logger: .silent, revocation: .off,
            canAskApple: true)
        let submission = try AuditedDatabase.incoming(
            PurchaseSubmitted(
                app: AuditedDatabase.app, userID: user, receipt: try text(name), productID: ProductID(product)))
        let facts = try database.run(handler, [submission], "verification")
        return try database.decide(AuditedDatabase.passedOn(facts), by: GrantPurchases())
    }

    private static func sell(_ purchases: [InAppPurchase], in database: AuditedDatabase) throws {
        let products = Set(purchases.map(\.productID)).sorted().enumerated().map { place, id in
            CatalogProduct(
                code: "P\(place)", productID: ProductID(id),
                productType: purchases.contains { $0.productID == id && $0.expiresDate != nil }
                    ? "Auto-Renewable Subscription" : "Consumable",
                amounts: [AssetAmount(asset: AuditedDatabase.coins, amount: 60)], isEnabled: true, sort: 1)
        }
        _ = try database.decide(
            [
                AuditedDatabase.incoming(
                    CatalogImportRequested(
                        app: AuditedDatabase.app, actor: "op", expectedVersion: 1,
                        definition: CatalogDefinition(
                            assets: [
                                CatalogAsset(
                                    asset: AuditedDatabase.coins, jsonName: "danbing",
                                    insufficientCode: .balanceNotEnough),
                                // Wallets may hold it: a catalogue cannot leave it out.
                                CatalogAsset(
                                    asset: AuditedDatabase.minutes, jsonName: "timeMinutes",
                                    insufficientCode: .timeNotEnough),
                            ], products: products,
                            policies: CatalogPolicies(
                                sandboxAudience: .listed, reviewers: [], testers: [AuditedDatabase.alice],
                                requiresAppAccountToken: false, orderExpiryHours: 24))))
            ], by: RunCommands())
    }

    @Test(arguments: [true, false])
    func `Apple's genuine receipt is held or granted as the sandbox policy lists its user (C-055)`(
        isListed: Bool
    ) async throws {
        let database = try await AuditedDatabase.make("genuine_\(isListed)")
        try await onThread {
            let receipt = try Self.genuine()
            let product = try #require(receipt.purchases.first).productID
            try Self.sell(receipt.purchases, in: database)
            let user = isListed ? AuditedDatabase.alice : AuditedDatabase.bob
            let facts = try Self.submit("receipt-sandbox-g5.b64", product, to: database, by: user)
            let wanted = Set(receipt.purchases.filter { $0.productID == product }.map(\.transactionID))
            let decided = facts.filter { $0.type == (isListed ? .purchaseGranted : .purchaseHeld) }
            #expect(decided.count == wanted.count, "\(facts.map { String(decoding: $0.body, as: UTF8.self) })")
            #expect(decided.allSatisfy { $0.environment == .sandbox })
            if !isListed {
                let reasons = try decided.map { try MessageCoding.decode(PurchaseHeld.self, from: $0.body).reason }
                #expect(reasons.allSatisfy { $0 == .sandboxPolicy })
            }
            let (code, lines) = database.audit("--full")
            #expect(code == 0, "\(lines.joined(separator: "\n"))")
        }
    }

    @Test func `where only Production is accepted the genuine sandbox receipt is refused, whoever asks (C-055)`()
        async throws
    {
        let database = try await AuditedDatabase.make("genuine_production")
        try await onThread {
            let receipt = try Self.genuine()
            let product = try #require(receipt.purchases.first).productID
            try Self.sell(receipt.purchases, in: database)
            let facts = try Self.submit(
                "receipt-sandbox-g5.b64", product, to: database, by: AuditedDatabase.alice, environments: [.production])
            #expect(facts.isEmpty)
            #expect(try Self.refusals(database) == ["environment_mismatch"])
        }
    }

    @Test
    func `what Xcode signs is refused with every environment there is, and Apple is not asked about it (S05 S20)`()
        async throws
    {
        let database = try await AuditedDatabase.make("xcode")
        try await onThread {
            let facts = try Self.submit(
                "receipt-xcode-with-purchases.b64", "coins60", to: database, by: AuditedDatabase.alice)
            #expect(facts.isEmpty)
            #expect(try Self.refusals(database) == ["chain_untrusted"])
        }
    }

    private static func refusals(_ database: AuditedDatabase) throws -> [String] {
        var connection = try database.database.open()
        return try connection.query("SELECT reason FROM verification.quarantine").map { try $0.text("reason") }
    }
}
