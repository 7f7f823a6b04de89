import Messages
import Pipeline
import Postgres
import Testing

@testable import Granting

@Suite struct NotificationTests {
    private func lines(_ shop: Shop) -> [String] {
        shop.books.changes.ledger.map { "\($0.direction.rawValue) \($0.amount) \($0.source.rawValue) \($0.sourceID)" }
    }

    @Test func `ONE_TIME_CHARGE grants to the token's owner and delivers the order, though the client never returns`() {
        var shop = Shop()
        _ = shop.order("A1")
        let decision = shop.notify(.oneTimeCharge, transaction("1", token: Shop.aliceToken))
        #expect(decision.answer == nil && decision.announcements.count == 1)
        #expect(shop.balance() == 60)
        #expect(shop.books.orders[OrderNumber("A1")]?.deliveredBy == transaction("1").key)
        let late = shop.submit(transaction("1", token: Shop.aliceToken), by: Shop.alice, order: OrderNumber("A1"))
        #expect(late.answer?.status == .alreadyGranted && late.answer?.mayFinish == true)
        #expect(shop.books.imbalances == [])
    }

    @Test func `without an owner the transaction waits, and the client claims it later`() {
        for type in [AppleNotificationType.oneTimeCharge, .refundReversed, .didRenew] {
            var shop = Shop(requiresToken: false)
            #expect(shop.notify(type, transaction("1")).announcements.map(\.isNote) == [true])
            #expect(shop.books.grants.isEmpty && shop.books.purchases[transaction("1").key]?.owner == nil)
            #expect(shop.submit(transaction("1"), by: Shop.bob).answer?.status == .granted)
            #expect(shop.balance(Shop.bob) == 60)
        }
    }

    @Test(arguments: AppleNotificationType.allCases)
    func `only what tells of a purchase grants one; a refund is a tombstone (A-114)`(type: AppleNotificationType) {
        var shop = Shop()
        _ = shop.order("A1")
        let share: Int64? = [.refund, .revoke].contains(type) ? 40_000 : nil
        _ = shop.notify(type, transaction("1", token: Shop.aliceToken, revoked: share))
        let grants: Set<AppleNotificationType> = [
            .oneTimeCharge, .subscribed, .didRenew, .offerRedeemed, .didChangeRenewalPref, .renewalExtended,
            .refundReversed,
        ]
        #expect(shop.books.grants.count == (grants.contains(type) ? 1 : 0))
        _ = shop.submit(transaction("1", token: Shop.aliceToken), by: Shop.alice)
        #expect(shop.balance() == (share == nil ? 60 : 36), "the later purchase is granted net of it")
        #expect(shop.books.imbalances == [])
    }

    @Test func `one refund told by three notifications takes once, and its record stays one (12)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        for _ in 0..<3 { _ = shop.notify(.refund, transaction("1", signed: 1, revoked: 100_000)) }
        // And once more, signed anew.
        _ = shop.notify(.refund, transaction("1", signed: 2, revoked: 100_000))
        #expect(lines(shop) == ["IN 60 APPLE_IAP 1/0", "OUT 60 APPLE_REFUND 1/1"])
        #expect(shop.books.imbalances == [])
    }

    @Test func `a declined refund moves nothing and is on record`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        let decision = shop.notify(.refundDeclined, transaction("1", signed: 1))
        #expect(decision.announcements.isEmpty && shop.balance() == 60)
        #expect(shop.books.changes.refundStatements.map(\.notification?.type) == [.refundDeclined])
    }

    @Test func `REVOKE of a family member's purchase is kept; nothing of it was in the wallet`() {
        var shop = Shop()
        let shared = transaction(
            "1", Shop.forever, type: "Non-Consumable", ownership: "FAMILY_SHARED", signed: 1, revoked: 100_000)
        #expect(shop.notify(.revoke, shared).announcements.map(\.isNote) == [true])
        #expect(shop.balance() == 0 && shop.books.changes.refundStatements.count == 1)
    }

    @Test func `a refund of somebody since erased moves the books`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        shop.books.customers[Shop.alice]?.userID = nil
        _ = shop.notify(.refund, transaction("1", signed: 1, revoked: 100_000))
        #expect(shop.balance() == 0)
        #expect(shop.books.imbalances == [])
    }

    @Test func `a refund that leaves a debt raises a flag and says so (A-111 B-124)`() {
        var shop = Shop()
        _ = shop.submit(transaction("1"), by: Shop.alice)
        _ = shop.spend(50, id: "s")
        let refund = shop.notify(.refund, transaction("1", signed: 1, revoked: 100_000))
        guard case .riskFlagged(let fact) = refund.announcements.last?.body else {
            Issue.record("no alert")
            return
        }
        #expect(fact.kind == .debt && fact.owed.map(\.amount) == [50] && fact.transactionID == TransactionID("1"))
        #expect(shop.books.changes.flags.map(\.kind) == [.debt])
        let reversed = shop.notify(.refundReversed, transaction("1", signed: 2))
        #expect(reversed.announcements.count == 1, "nothing new to look at")
    }

    @Test func `a notification of no purchase, or in words of tomorrow, is done and changes nothing (BR16)`()
        async throws
    {
        try await GrantingDatabase.with("unknown_notifications") { granting in
            var session = try granting.open()
            var tomorrow = notification(.oneTimeCharge, transaction("1"))
            tomorrow.notificationType = "PURCHASE_GIFTED"
            tomorrow.renewal = EntitlementTests.renewal()
            let batch = [
                try message(tomorrow), try notified(.test, nil), try notified(.externalPurchaseToken, transaction("1")),
                try message(
                    NotificationRedriveRequested(
                        notificationUUIDs: [], environment: nil, notificationTypes: [], actor: "op", isDryRun: true)),
            ]
            let outcomes = try session.run(ApplyNotifications(), batch)
            #expect(outcomes.map(\.parkedReason) == [nil, nil, nil, Incoming.unreadable])
            #expect(try granting.rows("SELECT FROM granting.transactions").isEmpty)
            #expect(try granting.rows("SELECT FROM granting.renewals").isEmpty)
        }
    }

    @Test func `what Apple said of a refund is on record with its notification, whoever brought it first (A-112)`()
        async throws
    {
        try await GrantingDatabase.with("refund_record") { granting in
            var session = try granting.open()
            var refund = transaction("1", signed: 1, revoked: 40_000)
            refund.revocationReason = 1
            refund.revocationType = "REFUND_PRORATED"
            _ = try session.run(GrantPurchases(), [try verified(transaction("1"), by: "alice")])
            _ = try session.run(GrantPurchases(), [try verified(refund, by: "alice")])
            let uuid = "5a5a5a5a-0000-4000-8000-000000000001"
            _ = try session.run(
                ApplyNotifications(),
                [try notified(.refund, refund, uuid: uuid), try notified(.refund, refund)])
            let row = try #require(
                try granting.rows(
                    """
                    SELECT revocation_reason, revocation_type, revocation_percentage, revoked_share, notification_type,
                        notification_uuid::text AS uuid, processed_at FROM granting.refund_statements
                    """
                ).first)
            #expect(try row.int8("revocation_reason") == 1 && row.text("revocation_type") == "REFUND_PRORATED")
            #expect(try row.int8("revocation_percentage") == 40_000 && row.int8("revoked_share") == 40_000)
            #expect(try row.text("notification_type") == "REFUND" && row.text("uuid") == uuid)
            let line = try granting.rows("SELECT source_id FROM granting.ledger WHERE source_type = 'APPLE_REFUND'")
            #expect(try line.map { try $0.text("source_id") } == ["1/1"], "A-113")
        }
    }
}
