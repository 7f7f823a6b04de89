import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// Two lanes with one subscription: the second waits for what the first decides, on real PostgreSQL. Not a matter of
/// luck: the first holds its transaction open until the second is seen waiting.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionLockTests {
    /// Runs `second` in another session while `first` is decided and not committed; both outcomes.
    private static func race(
        _ granting: GrantingDatabase, _ first: (any Handler, Incoming), _ second: (any Handler & Sendable, Incoming)
    ) throws -> [Outcome] {
        let message = second.1
        let handler = second.0
        let later = Later {
            var session = try granting.open()
            return try session.run(handler, [message])[0]
        }
        var session = try granting.open()
        var handlerOfFirst = first.0
        let outcome = try session.run(&handlerOfFirst, [first.1]) {
            later.start()
            try eventually("the second lane waits for the first") {
                try granting.rows(
                    """
                    SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
                    """
                ).count == 1
            }
        }[0]
        return [outcome, try later.value()]
    }

    @Test func `of two users who claim two periods of one subscription at once one gets it`() async throws {
        let definition = Shop.definition(products: PeriodTests.products)
        try await GrantingDatabase.with("two_claims", definition) { granting in
            let outcomes = try Self.race(
                granting, (GrantPurchases(), try verified(PeriodTests.period("1", "x"), by: "alice")),
                (GrantPurchases(), try verified(PeriodTests.period("2", "y", bought: Shop.day + 1), by: "bob")))
            #expect(try outcomes[0].answer(PurchaseAnswered.self)?.status == .granted)
            #expect(try outcomes[1].answer(PurchaseAnswered.self)?.code == .transactionAlreadyBound)
            let owners = try granting.rows(
                "SELECT DISTINCT owner FROM granting.transactions WHERE original_transaction_id = '1' AND owner IS NOT NULL"
            )
            #expect(owners.count == 1)
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `a refund of one transaction of a period and the claim of another at once end refunded`() async throws {
        let definition = Shop.definition(products: PeriodTests.products)
        try await GrantingDatabase.with("refund_and_claim", definition) { granting in
            let refund = try notified(.refund, PeriodTests.statement(.refundB40))
            let claim = try verified(PeriodTests.statement(.purchaseA), by: "alice")
            _ = try Self.race(granting, (ApplyNotifications(), refund), (GrantPurchases(), claim))
            let balance = try granting.rows("SELECT balance FROM granting.accounts").first?.int8("balance")
            #expect(balance == 6)
            #expect(try granting.rows("SELECT FROM granting.transactions WHERE owner IS NULL").isEmpty)
            #expect(try granting.imbalances() == [])
        }
    }

    @Test func `sixteen users with sixteen periods of one subscription at once: one owner, no deadlock`() async throws {
        let definition = Shop.definition(products: PeriodTests.products)
        try await GrantingDatabase.with("sixteen_claims", definition) { granting in
            let answers = try together(16) { number in
                var session = try granting.open()
                let period = PeriodTests.period("\(number)", "item\(number)", bought: Shop.day + Int64(number))
                return try session.run(GrantPurchases(), [try verified(period, by: "user\(number)")])[0]
                    .answer(PurchaseAnswered.self)?.status
            }
            #expect(answers.filter { $0 == .granted }.count == 1 && answers.filter { $0 == .refused }.count == 15)
            #expect(try granting.imbalances() == [])
        }
    }
}
