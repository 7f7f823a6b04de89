import AppStoreSimulation
import Messages
import TestSupport

@testable import Granting

/// A history in which everything that can happen to a purchase happens.
enum AuditHistory {
    private static let token = "11111111-1111-4111-8111-111111111111"

    /// Nobody connects to it but PostgreSQL, which copies it.
    private static let original = Task {
        let audited = try await AuditedDatabase.make("history")
        try await onThread { try write(to: audited) }
        return audited
    }

    /// A copy of this history for `body`, to be spoiled.
    static func copy<R: Sendable>(_ body: @escaping @Sendable (AuditedDatabase) throws -> R) async throws -> R {
        let original = try await original.value
        return try await onThread {
            let copy = try original.database.copy()
            defer { try? copy.drop() }
            return try body(AuditedDatabase(database: copy))
        }
    }

    private static func write(to shop: AuditedDatabase) throws {
        let (alice, bob) = (AuditedDatabase.alice, AuditedDatabase.bob)
        func buy(_ statements: SimulatedTransaction..., by user: UserID?, order: String? = nil) throws {
            try shop.purchase(statements, by: user, order: order)
        }
        // Bought in the sandbox and swept.
        try buy(AuditedDatabase.statement("30", environment: "Sandbox"), by: alice)
        try shop.sweep()
        try shop.order("A1", "coins60", token: token, by: alice)
        try shop.order("A2", "bundle", token: "22222222-2222-4222-8222-222222222222", by: alice)
        try buy(AuditedDatabase.statement("1", token: token), by: alice, order: "A1")
        // A second purchase on one order: a sibling order stands for it.
        try buy(AuditedDatabase.statement("2", token: token), by: alice, order: "A1")
        try buy(plain("3", "bundle"), by: alice)
        // A non-consumable, and its restore under another id.
        try buy(chain("4"), by: alice)
        try buy(chain("5", later: 1), by: alice)
        try buy(AuditedDatabase.statement("6", environment: "Sandbox"), by: alice)
        try buy(AuditedDatabase.statement("7", quantity: 2), by: bob)
        try shop.spend(50, id: "s1", by: alice)
        try shop.spend(100, id: "s2", by: bob)
        try shop.spend(1_000, id: "s3", by: bob)
        // A refund of what is spent leaves a debt; a smaller share later gives a part back.
        try buy(AuditedDatabase.statement("7", quantity: 2, later: 1, revoked: 100_000), by: nil)
        try buy(plain("3", "bundle", later: 1, revoked: 40_000), by: alice)
        try buy(plain("3", "bundle", later: 2, revoked: 10_000), by: alice)
        try buy(plain("8", "unknown"), by: bob)
        try buy(plain("9", revoked: 100_000), by: bob)
        try buy(plain("10"), by: nil)
        try shop.notify(
            AuditedDatabase.notification("REFUND", 0), AuditedDatabase.notification("TEST", 1),
            AuditedDatabase.notification("SOMETHING_NEW", 2))
        try shop.redrive("REFUND")
        try subscribe(shop)
        // Refunded in full before it was delivered: its order awaits nothing.
        let late = "33333333-3333-4333-8333-333333333333"
        try shop.order("A3", "coins60", token: late, by: bob)
        try buy(AuditedDatabase.statement("11", token: late, revoked: 100_000), by: bob, order: "A3")
        try shop.askForConsumption(of: AuditedDatabase.statement("1", token: token))
        // A card for ever, and one more, which waits.
        try buy(plain("30", "card"), by: alice)
        try buy(plain("31", "card"), by: alice)
        // Somebody else's, and the same again.
        try buy(plain("3", "bundle"), by: bob)
        try buy(plain("3", "bundle", later: 2, revoked: 10_000), by: alice)
    }

    /// Carol's subscription: two periods, the second told of by two transactions, of which the later one is refunded.
    private static func subscribe(_ shop: AuditedDatabase) throws {
        let carol = AuditedDatabase.carol
        try shop.purchase([AuditedDatabase.period("20", item: "a")], by: carol)
        try shop.tell(
            try AuditedDatabase.notification(
                "SUBSCRIBED", 3, AuditedDatabase.period("20", item: "a"), renewal: AuditedDatabase.renewal()),
            try AuditedDatabase.notification(
                "DID_RENEW", 4, AuditedDatabase.period("21", item: "b"), renewal: AuditedDatabase.renewal(later: 60_000)
            ),
            try AuditedDatabase.notification(
                "REFUND", 5, AuditedDatabase.period("22", item: "b", later: 1, revoked: 40_000)))
        _ = try shop.decide(
            [
                try AuditedDatabase.incoming(
                    RiskClearRequested(app: AuditedDatabase.app, userID: carol, actor: "op", reason: "canary"))
            ], by: RunCommands())
    }

    private static func plain(
        _ id: String, _ product: String = "coins60", later: Int64 = 0, revoked: Int64? = nil
    ) -> SimulatedTransaction {
        AuditedDatabase.statement(id, product, later: later, revoked: revoked)
    }

    private static func chain(_ id: String, later: Int64 = 0) -> SimulatedTransaction {
        AuditedDatabase.statement(id, "forever", original: "4", type: "Non-Consumable", later: later)
    }
}
