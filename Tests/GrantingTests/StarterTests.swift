import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Starter offers on the real tables.
@Suite struct StarterTests {
    private static func purchase(_ id: String, by user: String, _ name: Character) throws -> Incoming {
        try message(
            PurchaseVerified(
                app: Shop.app, userID: UserID(user), orderNumber: nil,
                transaction: transaction(id, StarterDecisionTests.pack),
                identities: [StarterDecisionTests.identity(name)]))
    }

    private static func code(_ outcomes: [Outcome]) throws -> AnswerCode? {
        try outcomes.first?.answer(PurchaseAnswered.self)?.code
    }

    private static let definition = Shop.definition(products: StarterDecisionTests.products())

    @Test func `two users of one address at once: the second waits for the first and is not eligible (B-029)`()
        async throws
    {
        try await GrantingDatabase.with("starter_together", Self.definition) { granting in
            var first = try granting.open()
            var handler = GrantPurchases()
            let second = Later {
                var session = try granting.open()
                return try Self.code(session.run(GrantPurchases(), [Self.purchase("2", by: "bob", "a")]))
            }
            let outcomes = try first.run(&handler, [Self.purchase("1", by: "alice", "a")]) {
                second.start()
                try eventually("the second waits for the offer's row") {
                    try !granting.rows(
                        """
                        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                            AND query LIKE '%starter_claims%'
                        """
                    ).isEmpty
                }
            }
            #expect(try Self.code(outcomes) == nil)
            #expect(try second.value() == .paymentStarterPackIneligible)
            #expect(try granting.rows("SELECT 1 FROM granting.grants").count == 1)
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `the offer is used up in the grant's transaction, or not at all (B-070 B-169)`() async throws {
        struct Stop: Error {}
        try await GrantingDatabase.with("starter_rollback", Self.definition) { granting in
            var session = try granting.open()
            var handler = GrantPurchases()
            #expect(throws: Stop.self) {
                _ = try session.run(&handler, [Self.purchase("1", by: "alice", "a")]) { throw Stop() }
            }
            #expect(try granting.rows("SELECT 1 FROM granting.starter_claims").isEmpty)
            #expect(try granting.rows("SELECT 1 FROM granting.grants").isEmpty)
            #expect(try Self.code(session.run(GrantPurchases(), [Self.purchase("1", by: "alice", "a")])) == nil)
            let claimed = try granting.rows("SELECT transaction_id FROM granting.starter_claims")
            #expect(try claimed.map { try $0.text("transaction_id") } == ["1"])
        }
    }

    @Test func `what is used up stays so, whoever writes; who somebody is can be forgotten (B-027)`() async throws {
        try await GrantingDatabase.with("starter_final", Self.definition) { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [Self.purchase("1", by: "alice", "a")])
            for sql in [
                "UPDATE granting.starter_claims SET transaction_id = NULL, customer = NULL, claimed_at = NULL",
                "UPDATE granting.starter_claims SET offer = 'other'",
            ] {
                #expect(throws: PostgresError.self) { try granting.database.execute(sql) }
            }
            // As an erasure does it: the account is nobody's, the address comes back with a new one.
            try granting.database.execute(
                "UPDATE granting.customers SET user_id = NULL; DELETE FROM granting.identities")
            let again = try session.run(GrantPurchases(), [Self.purchase("2", by: "alice", "a")])
            #expect(try Self.code(again) == .paymentStarterPackIneligible)
        }
    }

    @Test func `one token a user, kept and the same for all who ask at once (B-076)`() async throws {
        try await GrantingDatabase.with("user_tokens", Self.definition) { granting in
            let answers = try together(4) { _ in
                var session = try granting.open()
                let request = TokenRequested(
                    app: Shop.app, userID: UserID("alice"), appAccountToken: UUIDText.random(),
                    identities: [StarterDecisionTests.identity("a")])
                return try session.run(DecideWallet(), [message(request)]).first?.answer(TokenAnswered.self)
            }
            #expect(Set(answers.compactMap { $0?.appAccountToken }).count == 1)
            #expect(answers.allSatisfy { $0?.code == nil })
            let stored = try granting.rows("SELECT token FROM granting.tokens WHERE order_number IS NULL")
            #expect(try stored.map { UUIDText.format(try $0.uuid("token")) } == [answers.first??.appAccountToken])
            #expect(throws: PostgresError.self) {
                try granting.database.execute(
                    """
                    INSERT INTO granting.tokens (app, token, customer)
                    SELECT app, gen_random_uuid(), customer FROM granting.customers
                    """)
            }
        }
    }

    @Test func `support reads the books in document B's words (B-062…B-066 B-103 B-120 B-166)`() async throws {
        try await GrantingDatabase.with("points_views", Self.definition) { granting in
            var session = try granting.open()
            _ = try session.run(GrantPurchases(), [Self.purchase("1", by: "alice", "a")])
            _ = try session.run(DecideWallet(), [spending(50, id: "chat-1", by: "alice")])
            let refund = transaction("1", StarterDecisionTests.pack, signed: 1, revoked: 100_000, hash: "01")
            _ = try session.run(ApplyNotifications(), [notified(.refund, refund)])
            let rows = try granting.rows(
                """
                SELECT change_type || ' ' || direction || ' ' || biz_type || ' ' || event_id || ' ' || amount AS line,
                    coalesce(metadata->>'product_code', '-') || ' ' || coalesce(metadata->>'overdue_amount', '-')
                        || ' ' || coalesce(metadata->>'original_event_id', '-') AS more
                FROM granting.points_ledger ORDER BY id
                """)
            #expect(
                try rows.map { try $0.text("line") } == [
                    "purchase 1 payment payment.apple_iap:1 60", "consume -1 usage app_usage:chat-1 50",
                    "refund -1 payment refund.apple_iap:1 10",
                ])
            #expect(
                try rows.map { try $0.text("more") } == [
                    "NEW_USER_PACK - -", "- - -", "NEW_USER_PACK 50 payment.apple_iap:1",
                ])
            let transactions = try granting.rows(
                "SELECT status, failure_code, credits::bigint AS credits FROM granting.apple_iap_transactions")
            #expect(try transactions.first?.text("status") == "refunded_insufficient")
            #expect(try transactions.first?.text("failure_code") == "INSUFFICIENT_BALANCE")
            let accounts = try granting.rows("SELECT balance, spent FROM granting.accounts")
            #expect(try accounts.first?.int8("spent") == 50 && accounts.first?.int8("balance") == 0)
        }
    }
}
