import AppStoreSimulation
import Crypto
import JSON
import TestSupport
import Testing

/// What every server of this protocol must do with what Apple tells it.
@Suite struct NotificationConformanceTests {
    @Test func `a purchase whose client never comes back is granted by ONE_TIME_CHARGE, once`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c0-anna")
            let order = try anna.client.order("pyy_danbing_60")
            let plan = DeliveryPlan(duplicates: 1, retold: 1)
            let purchase = try subject.purchase(by: anna, token: order.appAccountToken, notification: plan)
            try subject.expectBalance(60, of: anna)
            try subject.waitUntilTold(purchase.transactionID)
            try subject.waitUntilSettled()
            let delivery = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            #expect(delivery.status == "ALREADY_GRANTED")
            #expect(try anna.ledger() == ["IN 60 = 60 APPLE_IAP"])
        }
    }

    @Test func `check 12: one refund told three times under different UUIDs takes once`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c12-anna")
            let first = try subject.granted(to: anna)
            _ = try subject.granted(to: anna)
            _ = try subject.store.refund(
                first.transactionID, environment: "Production", notification: DeliveryPlan(retold: 2))
            try subject.waitUntilTold(first.transactionID)
            try subject.waitUntilSettled()
            try subject.expectBalance(60, of: anna)
            #expect(
                try anna.ledger() == ["OUT 60 = 60 APPLE_REFUND", "IN 60 = 120 APPLE_IAP", "IN 60 = 60 APPLE_IAP"])
        }
    }

    @Test func `check 13: what was signed before the refund gives nothing back after it`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c13-anna")
            let purchase = try subject.granted(to: anna)
            _ = try subject.store.refund(purchase.transactionID, environment: "Production")
            try subject.expectBalance(0, of: anna)
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.code == "TRANSACTION_ALREADY_REVOKED")
            #expect(try anna.client.balance()["danbing"] == 0)
            #expect(try anna.ledger() == ["OUT 60 = 0 APPLE_REFUND", "IN 60 = 60 APPLE_IAP"])
        }
    }

    @Test func `check 14: a refund larger than the balance takes what is there, never below zero`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c14-anna")
            let purchase = try subject.granted(to: anna)
            #expect(try subject.spend(50, by: anna) == 10)
            _ = try subject.store.refund(purchase.transactionID, environment: "Production")
            try subject.expectBalance(0, of: anna)
            #expect(try anna.ledger().first == "OUT 10 = 0 APPLE_REFUND")
            // Taken back, the refund costs nothing and leaves nothing owed.
            _ = try subject.store.refund(purchase.transactionID, environment: "Production", percentage: 0)
            try subject.expectBalance(10, of: anna)
        }
    }

    @Test func `check 15: a refund that comes before the purchase is submitted is remembered, its owner by the token`()
        async throws
    {
        try await Subject.check { subject in
            let anna = try subject.user("c15-anna")
            let order = try anna.client.order("pyy_danbing_300")
            let purchase = try subject.purchase("pyy_danbing_300", by: anna, token: order.appAccountToken)
            _ = try subject.store.refund(purchase.transactionID, environment: "Production")
            try subject.waitUntilTold(purchase.transactionID)
            try subject.waitUntilSettled()
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            }
            #expect(problem?.code == "TRANSACTION_ALREADY_REVOKED" && problem?.mayFinish == true)
            #expect(try anna.client.balance()["danbing"] == 0)
        }
    }

    @Test func `check 16: the same without a token: granted net of the refunded share`() async throws {
        try await Subject.check { subject in
            let anna = try subject.user("c16-anna")
            let whole = try subject.purchase(by: anna)
            let part = try subject.purchase("pyy_danbing_300", by: anna)
            _ = try subject.store.refund(whole.transactionID, environment: "Production")
            _ = try subject.store.refund(part.transactionID, environment: "Production", milliunits: 40_000)
            for purchase in [whole, part] { try subject.waitUntilTold(purchase.transactionID) }
            try subject.waitUntilSettled()
            let problem = refusal { () throws(BackendError) in
                _ = try anna.client.verify(whole.signedTransactionInfo, orderNumber: nil)
            }
            #expect(problem?.code == "TRANSACTION_ALREADY_REVOKED")
            let delivery = try anna.client.verify(part.signedTransactionInfo, orderNumber: nil)
            #expect(delivery.status == "GRANTED" && delivery.balance["danbing"] == 180)
        }
    }

    @Test
    func `check 17: consumption request, reversal, family revocation and test are answered and have their effect`()
        async throws
    {
        try await Subject.check { subject in
            let anna = try subject.user("c17-anna")
            let purchase = try subject.granted(to: anna)
            let id = purchase.transactionID
            _ = try anna.client.send("PUT", "/api/iap/consumption-consent", [:])
            #expect(try subject.spend(15, by: anna) == 45)
            _ = try subject.store.requestConsumption(id, environment: "Production")
            try eventually(within: .seconds(30), "Apple is told how much was used") {
                try subject.store.consumption(of: id, environment: "Production").first?["consumptionPercentage"]
                    == 25_000
            }
            _ = try subject.store.refund(id, environment: "Production")
            try subject.expectBalance(0, of: anna)
            _ = try subject.store.refund(id, environment: "Production", percentage: 0)
            try subject.expectBalance(45, of: anna)
            _ = try subject.store.declineRefund(id, environment: "Production")
            let shared = try subject.purchase("pyy_family_unknown", by: anna)
            _ = try subject.store.revoke(shared.transactionID, environment: "Production")
            let test = try #require(try subject.store.tell("TEST", bundleID: subject.bundleID).first)
            try subject.waitUntilTold(id)
            try subject.waitUntilTold(shared.transactionID)
            try eventually("TEST is delivered") {
                try subject.store.notifications().contains {
                    $0["notificationUUID"]?.stringValue == test && $0["delivered"] == true
                }
            }
            try subject.waitUntilSettled()
            try subject.expectBalance(45, of: anna)
        }
    }

    @Test func `check 18: forged and garbage notifications change nothing and are no error of the server's`()
        async throws
    {
        try await Subject.check { subject in
            let anna = try subject.user("c18-anna")
            let purchase = try subject.granted(to: anna)
            let forger = TransactionSigner(try SimulatedAuthority.generate())
            let transaction = try forger.sign(
                SimulatedTransaction(
                    transactionID: purchase.transactionID, bundleID: subject.bundleID, productID: "pyy_danbing_60",
                    purchaseDate: WallClock.milliseconds()))
            let forged = try forger.sign(
                SimulatedNotification(
                    type: "REFUND", uuid: "550e8400-e29b-41d4-a716-446655440000", bundleID: subject.bundleID,
                    signedDate: WallClock.milliseconds(),
                    signedTransactionInfo: String(decoding: transaction, as: UTF8.self)))
            let body: JSONObject = ["signedPayload": .string(String(decoding: forged, as: UTF8.self))]
            #expect((200..<500).contains(try subject.post(JSONWriter.write(body))))
            for text in [
                "{}", #"{"signedPayload":5}"#, "no JSON", "", #"{"unified_receipt":{},"notification_type":"REFUND"}"#,
            ] {
                #expect(try subject.post(Array(text.utf8)) == 400, "\(text)")
            }
            for text in [#"{"signedPayload":"a.b.c"}"#, #"{"signedPayload":""}"#] {
                #expect((200..<500).contains(try subject.post(Array(text.utf8))), "\(text)")
            }
            try subject.waitUntilSettled()
            #expect(try anna.ledger() == ["IN 60 = 60 APPLE_IAP"])
        }
    }
}
