import AppStoreSimulation
import JSON
import TestSupport
import Testing

@Suite struct SubscriptionTests {
    /// What happens to a running subscription, what is told, and what it says then.
    struct Step: Sendable, CustomTestStringConvertible {
        var before: [SubscriptionAction] = []
        let action: SubscriptionAction
        let kind: String
        let status: Int64
        var isNewPeriod = false
        var product = "vip.monthly"
        var next = "vip.monthly"
        var renews = true
        var testDescription: String { kind }
    }

    static let steps: [Step] = [
        Step(action: .renew, kind: "DID_RENEW", status: 1, isNewPeriod: true),
        Step(action: .failBilling(graceSeconds: 3_600), kind: "DID_FAIL_TO_RENEW/GRACE_PERIOD", status: 4),
        Step(action: .failBilling(graceSeconds: nil), kind: "DID_FAIL_TO_RENEW", status: 3),
        Step(
            before: [.failBilling(graceSeconds: 3_600)], action: .endGrace, kind: "GRACE_PERIOD_EXPIRED", status: 3),
        Step(
            before: [.failBilling(graceSeconds: nil)], action: .recover, kind: "DID_RENEW/BILLING_RECOVERY", status: 1,
            isNewPeriod: true),
        Step(
            action: .upgrade(productID: "vip.yearly"), kind: "DID_CHANGE_RENEWAL_PREF/UPGRADE", status: 1,
            isNewPeriod: true, product: "vip.yearly", next: "vip.yearly"),
        Step(
            action: .downgrade(productID: "vip.small"), kind: "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", status: 1,
            next: "vip.small"),
        Step(
            before: [.downgrade(productID: "vip.small")], action: .renew, kind: "DID_RENEW", status: 1,
            isNewPeriod: true, product: "vip.small", next: "vip.small"),
        Step(
            before: [.downgrade(productID: "vip.small")], action: .keepProduct, kind: "DID_CHANGE_RENEWAL_PREF",
            status: 1),
        Step(
            action: .cancel, kind: "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", status: 1, renews: false),
        Step(
            before: [.cancel], action: .enable, kind: "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", status: 1),
        Step(
            before: [.cancel], action: .expire(reason: "VOLUNTARY"), kind: "EXPIRED/VOLUNTARY", status: 2,
            renews: false),
        Step(action: .expire(reason: "BILLING_RETRY"), kind: "EXPIRED/BILLING_RETRY", status: 2, renews: false),
        Step(action: .expire(reason: nil), kind: "EXPIRED", status: 2, renews: false),
        Step(action: .extend(days: 3), kind: "RENEWAL_EXTENDED", status: 1),
        Step(action: .raisePrice(isAccepted: false), kind: "PRICE_INCREASE/PENDING", status: 1),
        Step(action: .redeemOffer(identifier: "spring"), kind: "OFFER_REDEEMED", status: 1, isNewPeriod: true),
        Step(
            before: [.expire(reason: "VOLUNTARY")], action: .resubscribe, kind: "SUBSCRIBED/RESUBSCRIBE", status: 1,
            isNewPeriod: true),
    ]

    @Test(arguments: steps)
    func `a change is told by its type and subtype, with transaction and renewal info that agree`(step: Step)
        async throws
    {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let begun = try store.subscribe(
                SubscriptionRequest(
                    bundleID: SimulatorStage.bundleID, productID: "vip.monthly", appleAccount: "anna",
                    notification: .never))
            let id = try begun.string("originalTransactionId")
            for action in step.before {
                _ = try store.change(id, environment: "Production", action, notification: .never)
            }
            let before = try store.change(id, environment: "Production", .enable, notification: .never)
            _ =
                step.before.contains(.cancel)
                ? try store.change(id, environment: "Production", .cancel, notification: .never) : [:]
            let after = try store.change(id, environment: "Production", step.action)
            let posted = try #require(try stage.listener.wait(for: 1).first)
            _ = try stage.verified(stage.listener.payloads[0])
            #expect(posted.kind == step.kind)
            #expect(posted["data"]?.objectValue?["status"]?.intValue == step.status)
            let (transaction, renewal) = (try posted.transaction(), try posted.renewalInfo())
            #expect(transaction["originalTransactionId"] == .string(id))
            #expect(transaction["productId"] == .string(step.product))
            #expect(renewal["autoRenewProductId"] == .string(step.next))
            #expect(renewal["autoRenewStatus"] == (step.renews ? 1 : 0))
            #expect(transaction["expiresDate"] == after["expiresDate"])
            let isNew = before["lastTransactionId"] != after["lastTransactionId"]
            #expect(isNew == step.isNewPeriod)
            if step.kind == "RENEWAL_EXTENDED" {
                #expect(try after.int64("expiresDate") - before.int64("expiresDate") == 3 * 86_400_000)
            }
            if step.kind == "DID_FAIL_TO_RENEW/GRACE_PERIOD" {
                #expect(try renewal.int64("gracePeriodExpiresDate") > before.int64("expiresDate"))
                #expect(renewal["isInBillingRetryPeriod"] == true)
            }
        }
    }

    @Test func `all active subscribers of a product get more time, each is told, and the summary counts them`()
        async throws
    {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let subscriptions = try ["anna", "bert", "cleo", "dora"].map { account in
                try store.subscribe(
                    SubscriptionRequest(
                        bundleID: SimulatorStage.bundleID,
                        productID: account == "dora" ? "vip.yearly" : "vip.monthly", appleAccount: account,
                        notification: .never))
            }
            let ids = try subscriptions.map { try $0.string("originalTransactionId") }
            let summary = try store.extendRenewals(
                RenewalExtension(
                    bundleID: SimulatorStage.bundleID, productID: "vip.monthly", days: 7, failing: [ids[1]],
                    requestIdentifier: "request-1"))
            #expect(summary["succeededCount"] == 2 && summary["failedCount"] == 1)
            let posted = try stage.listener.wait(for: 4)
            #expect(
                Set(posted.map(\.kind)) == [
                    "RENEWAL_EXTENDED", "RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY",
                ])
            for payload in stage.listener.payloads { #expect(throws: Never.self) { try stage.verified(payload) } }
            let last = try #require(posted.last)
            #expect(last.kind == "RENEWAL_EXTENSION/SUMMARY" && last["data"] == nil)
            #expect(last["summary"]?.objectValue?["requestIdentifier"] == "request-1")
            let failed = try #require(posted.first { $0.kind == "RENEWAL_EXTENSION/FAILURE" })
            #expect(try failed.transaction()["originalTransactionId"] == .string(ids[1]))
            for (id, before) in zip(ids, subscriptions) {
                let after = try store.change(id, environment: "Production", .enable, notification: .never)
                let days = (try after.int64("expiresDate") - before.int64("expiresDate")) / 86_400_000
                #expect(days == (id == ids[0] || id == ids[2] ? 7 : 0))
            }
        }
    }

    @Test func `an upgrade marks the old period as upgraded without a revocation`() async throws {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let id = try store.subscribe(
                SubscriptionRequest(
                    bundleID: SimulatorStage.bundleID, productID: "vip.monthly", appleAccount: "anna")
            ).string("originalTransactionId")
            _ = try store.change(id, environment: "Production", .upgrade(productID: "vip.yearly"))
            let old = try Listener.decoded(
                try store.transaction(id, environment: "Production").signedTransactionInfo)
            #expect(old["isUpgraded"] == true && old["revocationDate"] == nil)
            #expect(try stage.listener.wait(for: 2).first?.kind == "SUBSCRIBED/INITIAL_BUY")
        }
    }

    @Test func `accelerated periods pass by themselves until renewal is switched off`() async throws {
        // A month is a quarter of a second.
        try await SimulatorStage.run(renewalFactor: 10_000_000) { stage in
            let store = try stage.store()
            let id = try store.subscribe(
                SubscriptionRequest(
                    bundleID: SimulatorStage.bundleID, productID: "vip.monthly", appleAccount: "anna",
                    renewsItself: true)
            ).string("originalTransactionId")
            _ = try stage.listener.wait(for: 3)
            _ = try store.change(id, environment: "Production", .cancel)
            try eventually("it expires") { try stage.listener.posted().last?.kind == "EXPIRED/VOLUNTARY" }
            let kinds = try stage.listener.posted().map(\.kind)
            #expect(kinds.prefix(3) == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_RENEW"])
            let periods = try stage.listener.posted().filter { $0.kind == "DID_RENEW" }
            let items = Set(try periods.map { try $0.transaction()["webOrderLineItemId"]?.stringValue ?? "" })
            #expect(items.count == periods.count)
        }
    }
}
