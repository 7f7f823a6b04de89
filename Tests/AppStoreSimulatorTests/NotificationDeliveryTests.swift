import AppStore
import AppStoreSimulation
import JSON
import TestSupport
import Testing

@Suite struct NotificationDeliveryTests {
    @Test func `a purchase is told as ONE_TIME_CHARGE that Purser's verifier accepts with the transaction inside`()
        async throws
    {
        try await SimulatorStage.run { stage in
            let purchase = try stage.buy()
            let notification = try #require(try stage.listener.wait(for: 1).first)
            #expect(notification.kind == "ONE_TIME_CHARGE")
            let verified = try stage.verified(stage.listener.payloads[0])
            #expect(verified.transaction?.payload.transactionID == purchase.transactionID)
            #expect(verified.notification.payload.data?.appAppleID == SimulatorStage.appAppleID)
            #expect(purchase.signedTransactionInfo.isEmpty == false)
        }
    }

    @Test func `without an address nothing is told and no history is kept`() async throws {
        try await SimulatorStage.run(hasAddress: false) { stage in
            _ = try stage.buy()
            #expect(try stage.store().notifications().isEmpty)
        }
    }

    @Test(arguments: [200, 201, 202, 203, 204, 205, 206])
    func `an answer from 200 to 206 is success and ends it`(status: Int) async throws {
        try await SimulatorStage.run { stage in
            stage.listener.answer([status])
            _ = try stage.buy()
            let store = try stage.store()
            try eventually("it is finished") { try store.notifications().first?["finished"] == true }
            #expect(try store.notifications().first?["delivered"] == true)
            #expect(stage.listener.payloads.count == 1)
        }
    }

    @Test(arguments: [207, 301, 400, 404, 500, 503])
    func `any other answer is told again under the same UUID, in Production`(status: Int) async throws {
        try await SimulatorStage.run { stage in
            stage.listener.answer([status, status])
            _ = try stage.buy()
            let posted = try stage.listener.wait(for: 3)
            #expect(Set(posted.map(\.uuid)).count == 1)
            let store = try stage.store()
            try eventually("it is finished") { try store.notifications().first?["finished"] == true }
            let attempts = try store.notifications()[0].array("sendAttempts")
            #expect(
                attempts.map { $0.objectValue?["sendAttemptResult"]?.stringValue } == [
                    "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS",
                ])
        }
    }

    @Test(arguments: [("Production", 6), ("Sandbox", 1)])
    func `nobody who never answers well is asked more often than Apple asks`(environment: String, count: Int)
        async throws
    {
        try await SimulatorStage.run { stage in
            stage.listener.answer(Array(repeating: 503, count: 20))
            _ = try stage.buy(environment: environment)
            let store = try stage.store()
            try eventually("Apple gives up") { try store.notifications().first?["finished"] == true }
            #expect(stage.listener.payloads.count == count)
            #expect(try store.notifications()[0].array("sendAttempts").count == count)
        }
    }

    @Test func `the waits are Apple's, divided by the factor`() {
        let hour: Int64 = 3_600_000
        let real = RetrySchedule(factor: 1)
        #expect(
            (1...6).map { real.wait(after: $0, environment: "Production") } == [
                hour, 12 * hour, 24 * hour, 48 * hour, 72 * hour, nil,
            ])
        #expect(RetrySchedule(factor: 3_600).wait(after: 2, environment: "Production") == 12_000)
        #expect(real.wait(after: 1, environment: "Sandbox") == nil)
    }

    @Test func `a duplicate has the same UUID, one told again another, both the same transaction`() async throws {
        try await SimulatorStage.run { stage in
            let purchase = try stage.buy(notification: .never)
            let plan = DeliveryPlan(duplicates: 2, retold: 1)
            _ = try stage.store().refund(
                purchase.transactionID, environment: "Production", milliunits: 40_000, notification: plan)
            let posted = try stage.listener.wait(for: 6)
            #expect(posted.map(\.kind) == Array(repeating: "REFUND", count: 6))
            let counts = Dictionary(grouping: posted, by: \.uuid).mapValues(\.count)
            #expect(counts.values.sorted() == [3, 3])
            for notification in posted {
                #expect(try notification.transaction()["revocationPercentage"] == 40_000)
                #expect(try notification.transaction()["transactionId"] == .string(purchase.transactionID))
            }
        }
    }

    @Test func `one that is told out of order comes after the next, a late one when its time has come`() async throws {
        try await SimulatorStage.run { stage in
            let purchase = try stage.buy(notification: DeliveryPlan(isOutOfOrder: true))
            #expect(stage.listener.payloads.isEmpty)
            _ = try stage.store().refund(purchase.transactionID, environment: "Production")
            #expect(try stage.listener.wait(for: 2).map(\.kind) == ["REFUND", "ONE_TIME_CHARGE"])
            _ = try stage.store().refund(
                purchase.transactionID, environment: "Production", percentage: 0,
                notification: DeliveryPlan(delay: 4_000))
            _ = try stage.store().declineRefund(purchase.transactionID, environment: "Production")
            #expect(try stage.listener.wait(for: 4).map(\.kind).suffix(2) == ["REFUND_DECLINED", "REFUND_REVERSED"])
        }
    }

    @Test func `one that is never told is in the history and nowhere else`() async throws {
        try await SimulatorStage.run { stage in
            _ = try stage.buy(notification: .never)
            _ = try stage.buy()
            #expect(try stage.listener.wait(for: 1).count == 1)
            let kept = try stage.store().notifications()
            #expect(kept.count == 2)
            #expect(kept.first?["delivered"] == false)
        }
    }

    @Test func `the Sandbox's go to Production's address until it has its own`() async throws {
        try await SimulatorStage.run { stage in
            _ = try stage.buy(environment: "Sandbox")
            let first = try #require(try stage.listener.wait(for: 1).first)
            #expect(first["data"]?.objectValue?["environment"] == "Sandbox")
            #expect(first["data"]?.objectValue?["appAppleId"] == nil)
            let other = try Listener.start()
            defer { other.stop() }
            try stage.store().register(
                SimulatedApp(bundleID: SimulatorStage.bundleID, sandboxNotificationURL: other.url))
            _ = try stage.buy(environment: "Sandbox")
            #expect(try other.wait(for: 1).count == 1)
            // With only a Sandbox address nothing is sent in Production.
            _ = try stage.buy()
            #expect(try stage.store().notifications().count == 2)
        }
    }

    @Test func `what was not delivered when the simulator ended is posted after its next start`() async throws {
        try await SimulatorStage.run { stage in
            _ = try stage.buy(notification: DeliveryPlan(delay: 86_400_000))
            let plan = DeliveryPlan(delay: 1_000)
            let id = try stage.store().requestConsumption(
                try stage.buy(notification: .never).transactionID, environment: "Production", notification: plan
            ).transactionID
            try stage.restart()
            #expect(try stage.listener.wait(for: 1).map(\.kind) == ["CONSUMPTION_REQUEST"])
            let store = try stage.store()
            try eventually("it is finished") { try store.notifications(about: id).last?["delivered"] == true }
            #expect(try store.notifications().count == 3)
        }
    }
}
