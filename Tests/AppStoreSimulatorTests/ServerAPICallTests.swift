import AppStoreServerAPI
import AppStoreSimulation
import Crypto
import JSON
import TestSupport
import Testing

/// The client of Purser against the simulator: every call, end to end.
@Suite struct ServerAPICallTests {
    @Test(arguments: ["Production", "Sandbox"])
    func `transaction info is the newest statement, of its environment only`(environment: String) async throws {
        try await SimulatorStage.run { stage in
            let id = try stage.buy(environment: environment).transactionID
            _ = try stage.store().refund(id, environment: environment, milliunits: 25_000)
            var api = try stage.api(environment: environment)
            let info = try Listener.decoded(try api.transactionInfo(id))
            #expect(info["revocationPercentage"] == 25_000)
            var other = try stage.api(environment: environment == "Production" ? "Sandbox" : "Production")
            #expect(throws: ServerAPIError.refused(status: 404, code: .transactionIDNotFound)) {
                try other.transactionInfo(id)
            }
        }
    }

    @Test func `history has pages of 20 that lose and repeat nothing, and shows later changes to who kept the place`()
        async throws
    {
        try await SimulatorStage.run(hasAddress: false) { stage in
            let bought = try (0..<45).map { _ in try stage.buy().transactionID }
            _ = try stage.buy(account: "bert")
            var api = try stage.api()
            var seen: [String] = []
            var sizes: [Int] = []
            var revision: String?
            var hasMore = true
            while hasMore {
                let page = try api.transactionHistory(bought[7], revision: revision)
                sizes.append(page.signedTransactions.count)
                seen += try page.signedTransactions.map { try Listener.decoded($0).string("transactionId") }
                (revision, hasMore) = (page.revision, page.hasMore)
            }
            #expect(sizes == [20, 20, 5])
            #expect(seen == bought)
            _ = try stage.store().refund(bought[3], environment: "Production")
            let later = try api.transactionHistory(bought[7], revision: revision)
            #expect(
                try later.signedTransactions.map { try Listener.decoded($0).string("transactionId") } == [bought[3]])
            var query = HistoryQuery()
            query.isRevoked = true
            #expect(try api.transactionHistory(bought[0], query).signedTransactions.count == 1)
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_005))) {
                try api.transactionHistory(bought[0], query, revision: revision)
            }
        }
    }

    @Test func `history is filtered by date, product and type, and sorted both ways`() async throws {
        try await SimulatorStage.run(hasAddress: false) { stage in
            let coins = try stage.buy("coins").transactionID
            let card = try stage.buy("card", type: "Non-Renewing Subscription").transactionID
            var api = try stage.api()
            func ids(_ change: (inout HistoryQuery) -> Void) throws -> [String] {
                var query = HistoryQuery()
                change(&query)
                return try api.transactionHistory(coins, query).signedTransactions.map {
                    try Listener.decoded($0).string("transactionId")
                }
            }
            #expect(try ids { $0.productIDs = ["card"] } == [card])
            #expect(try ids { $0.productTypes = ["CONSUMABLE"] } == [coins])
            #expect(try ids { $0.isDescending = true } == [card, coins])
            #expect(try ids { $0.endDate = 1_000 } == [])
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_013))) {
                try ids { ($0.startDate, $0.endDate) = (2, 1) }
            }
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_022))) {
                try ids { $0.productTypes = ["Consumable"] }
            }
        }
    }

    @Test func `refund history lists a customer's refunds in the order of their dates, in pages`() async throws {
        try await SimulatorStage.run(hasAddress: false) { stage in
            let store = try stage.store()
            let bought = try (0..<22).map { _ in try stage.buy().transactionID }
            for id in bought.reversed() { _ = try store.refund(id, environment: "Production") }
            var api = try stage.api()
            let first = try api.refundHistory(bought[0])
            #expect(first.signedTransactions.count == 20 && first.hasMore)
            let second = try api.refundHistory(bought[0], revision: first.revision)
            let ids = try (first.signedTransactions + second.signedTransactions).map {
                try Listener.decoded($0).string("transactionId")
            }
            #expect(ids == bought.reversed() && !second.hasMore)
        }
    }

    @Test func `subscription statuses follow the subscription`() async throws {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let id = try store.subscribe(
                SubscriptionRequest(
                    bundleID: SimulatorStage.bundleID, productID: "vip.monthly", appleAccount: "anna")
            ).string("originalTransactionId")
            var api = try stage.api()
            #expect(try api.subscriptionStatuses(id).map(\.status) == [1])
            _ = try store.change(id, environment: "Production", .failBilling(graceSeconds: 60))
            let status = try #require(try api.subscriptionStatuses(id).first)
            #expect(status.status == 4 && status.originalTransactionID == id)
            let renewal = try Listener.decoded(status.signedRenewalInfo ?? "")
            #expect(renewal["isInBillingRetryPeriod"] == true)
        }
    }

    @Test func `an order id finds its transactions, another nothing`() async throws {
        try await SimulatorStage.run { stage in
            let purchase = try stage.buy()
            var api = try stage.api()
            let found = try api.lookUpOrder(purchase.orderID)
            #expect(found.isValid && found.signedTransactions.count == 1)
            let missing = try api.lookUpOrder("MXXXXXX")
            #expect(!missing.isValid && missing.signedTransactions.isEmpty)
        }
    }

    @Test func `notification history has what was posted with its attempts, filters, and pages`() async throws {
        try await SimulatorStage.run { stage in
            let store = try stage.store()
            let id = try stage.buy().transactionID
            for _ in 0..<22 { _ = try stage.buy(notification: .never) }
            _ = try stage.listener.wait(for: 1)
            stage.listener.answer([503])
            _ = try store.refund(id, environment: "Production")
            try eventually("both are told") {
                try store.notifications(about: id).allSatisfy { $0["finished"] == true }
            }
            var api = try stage.api()
            let now = WallClock.milliseconds()
            func page(_ filter: NotificationHistoryQuery.Filter, failures: Bool = false, token: String? = nil) throws
                -> NotificationPage
            {
                try api.notificationHistory(
                    NotificationHistoryQuery(
                        from: now - 60_000, to: now + 60_000, filter: filter, onlyFailures: failures),
                    paginationToken: token)
            }
            let first = try page(.all)
            let second = try page(.all, token: first.paginationToken)
            #expect(first.items.count == 20 && first.hasMore && second.items.count == 4 && !second.hasMore)
            let refund = try #require(try page(.type("REFUND", subtype: nil)).items.first)
            #expect(refund.sendAttempts.map(\.result) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
            #expect(refund.signedPayload == stage.listener.payloads.last)
            #expect(try page(.transaction(id)).items.count == 2)
            #expect(try page(.all, failures: true).items.count == 20)
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_014))) {
                try page(.transaction(id), token: first.paginationToken)
            }
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_012))) {
                try api.notificationHistory(NotificationHistoryQuery(from: now - 181 * 86_400_000, to: now))
            }
        }
    }

    @Test func `a test notification is posted, and its fate is told`() async throws {
        try await SimulatorStage.run { stage in
            var api = try stage.api()
            let token = try api.requestTestNotification()
            #expect(try stage.listener.wait(for: 1).first?.kind == "TEST")
            let store = try stage.store()
            try eventually("its attempt is known") { try store.notifications().first?["finished"] == true }
            // Another client, with a budget of its own: one such call a second is allowed.
            var later = try stage.api()
            let status = try later.testNotificationStatus(token)
            #expect(status.sendAttempts.map(\.result) == ["SUCCESS"])
            #expect(status.signedPayload == stage.listener.payloads[0])
        }
    }

    @Test func `a test notification without an address, and one nobody asked for, have Apple's error numbers`()
        async throws
    {
        try await SimulatorStage.run(hasAddress: false) { stage in
            var api = try stage.api()
            #expect(throws: ServerAPIError.refused(status: 404, code: .init(rawValue: 4_040_007))) {
                try api.requestTestNotification()
            }
            var other = try stage.api()
            #expect(throws: ServerAPIError.refused(status: 404, code: .init(rawValue: 4_040_008))) {
                try other.testNotificationStatus("550e8400-e29b-41d4-a716-446655440000_Production")
            }
        }
    }

    @Test func `consumption is taken in both forms and kept as it was sent`() async throws {
        try await SimulatorStage.run { stage in
            let id = try stage.buy().transactionID
            var api = try stage.api()
            let new = try ConsumptionRequest(
                sampleContentProvided: false, deliveryStatus: .delivered, consumptionPercentage: 50_000,
                refundPreference: .grantProrated)
            try api.sendConsumption(new, of: id)
            let old = ConsumptionRequestV1(
                appAccountToken: nil, sampleContentProvided: true, consumptionStatus: .partiallyConsumed,
                deliveryStatus: .deliveredAndWorking, refundPreference: .preferDecline)
            try api.sendConsumption(old, of: id)
            #expect(try stage.store().consumption(of: id, environment: "Production") == [new.json, old.json])
        }
    }

    @Test func `a share for a subscription and the old form for a time card are refused with Apple's numbers`()
        async throws
    {
        try await SimulatorStage.run { stage in
            let subscription = try stage.store().subscribe(
                SubscriptionRequest(
                    bundleID: SimulatorStage.bundleID, productID: "vip.monthly", appleAccount: "anna")
            ).string("originalTransactionId")
            let card = try stage.buy("card", type: "Non-Renewing Subscription").transactionID
            var api = try stage.api()
            let share = try ConsumptionRequest(
                sampleContentProvided: false, deliveryStatus: .delivered, consumptionPercentage: 1)
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_209))) {
                try api.sendConsumption(share, of: subscription)
            }
            let old = ConsumptionRequestV1(
                appAccountToken: nil, sampleContentProvided: true, consumptionStatus: .undeclared,
                deliveryStatus: .other, refundPreference: .noPreference)
            #expect(throws: ServerAPIError.refused(status: 400, code: .init(rawValue: 4_000_047))) {
                try api.sendConsumption(old, of: card)
            }
        }
    }
}
