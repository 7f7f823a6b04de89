import AppStoreSimulation
import JSON
import TestSupport
import Testing

@Suite struct NotificationTypeTests {
    /// Every type Apple documents, with the subtypes it has, and one Apple may invent.
    static let kinds: [String] = [
        "SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/RESUBSCRIBE", "DID_CHANGE_RENEWAL_PREF/UPGRADE",
        "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "OFFER_REDEEMED", "OFFER_REDEEMED/UPGRADE",
        "OFFER_REDEEMED/DOWNGRADE", "DID_RENEW", "DID_RENEW/BILLING_RECOVERY", "EXPIRED/VOLUNTARY",
        "EXPIRED/BILLING_RETRY", "EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE", "EXPIRED",
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE/PENDING",
        "PRICE_INCREASE/ACCEPTED", "PRICE_CHANGE", "METADATA_UPDATE", "MIGRATION", "RENEWAL_EXTENDED",
        "RENEWAL_EXTENSION/SUMMARY", "RENEWAL_EXTENSION/FAILURE", "REFUND", "REFUND_REVERSED", "REFUND_DECLINED",
        "CONSUMPTION_REQUEST", "REVOKE", "TEST", "ONE_TIME_CHARGE", "EXTERNAL_PURCHASE_TOKEN/UNREPORTED",
        "EXTERNAL_PURCHASE_TOKEN/CREATED", "EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER", "RESCIND_CONSENT",
        "A_TYPE_OF_NEXT_YEAR/WITH_SUBTYPE",
    ]

    @Test func `every type is posted in a form that Purser's verifier accepts`() async throws {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let purchase = try stage.buy(notification: .never)
            for kind in Self.kinds {
                let parts = kind.split(separator: "/").map(String.init)
                _ = try store.tell(
                    parts[0], subtype: parts.count > 1 ? parts[1] : nil, bundleID: SimulatorStage.bundleID,
                    transactionID: parts[0] == "TEST" ? nil : purchase.transactionID)
            }
            let posted = try stage.listener.wait(for: Self.kinds.count)
            #expect(posted.map(\.kind) == Self.kinds)
            for payload in stage.listener.payloads { #expect(throws: Never.self) { try stage.verified(payload) } }
            let summary = try #require(posted.first { $0.kind == "RENEWAL_EXTENSION/SUMMARY" })
            #expect(summary["data"] == nil && summary["summary"] != nil)
        }
    }

    @Test func `fields of a notification can be replaced and taken away`() async throws {
        try await SimulatorStage.run { stage in
            _ = try stage.store().tell(
                "TEST", bundleID: SimulatorStage.bundleID, fields: ["version": "3.0", "signedDate": .null])
            let posted = try stage.listener.wait(for: 1)
            #expect(posted[0]["version"] == "3.0" && posted[0]["signedDate"] == nil)
        }
    }

    @Test func `refunds, reversals, declines, family revocations and consumption requests say what Apple says`()
        async throws
    {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let id = try stage.buy(notification: .never).transactionID
            _ = try store.refund(id, environment: "Production", milliunits: 33_333)
            _ = try store.refund(id, environment: "Production")
            _ = try store.refund(id, environment: "Production", percentage: 0)
            _ = try store.declineRefund(id, environment: "Production")
            _ = try store.requestConsumption(id, environment: "Production", reason: "LEGAL")
            _ = try store.revoke(id, environment: "Production")
            let posted = try stage.listener.wait(for: 6)
            #expect(
                posted.map(\.kind) == [
                    "REFUND", "REFUND", "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE",
                ])
            let statements = try posted.map { try $0.transaction() }
            #expect(
                statements.map { $0["revocationPercentage"]?.intValue } == [33_333, 100_000, nil, nil, nil, nil])
            #expect(
                statements.map { $0["revocationType"]?.stringValue } == [
                    "REFUND_PRORATED", "REFUND_FULL", nil, nil, nil, "FAMILY_REVOKE",
                ])
            #expect(statements.map { $0["revocationDate"] != nil } == [true, true, false, false, false, true])
            let dates = statements.compactMap { $0["signedDate"]?.intValue }
            #expect(dates == dates.sorted() && Set(dates).count == 6)
            #expect(posted[4]["data"]?.objectValue?["consumptionRequestReason"] == "LEGAL")
        }
    }
}
