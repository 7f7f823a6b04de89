import AppStoreSimulation
import JSON
import TestSupport
import Testing

/// Document A's own test cases, played by its app against the real processes.
@Suite struct PurchaseTests {
    @Test func `a normal purchase is granted, stored, shown and finished (T1, A-140)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "t1-anna"
            let app = try deployment.device(user)
            #expect(try app.products().first?.appleProductID == "pyy_danbing_60")
            guard case .delivered(let delivery) = try app.buy("pyy_danbing_60") else {
                Issue.record("not delivered")
                return
            }
            #expect(delivery.status == "GRANTED")
            #expect(delivery.body["appleProductId"] == "pyy_danbing_60")
            #expect(delivery.body["assetType"] == "DANBING")
            #expect(delivery.body["grantAmount"] == 60)
            #expect(delivery.balance == ["danbing": 60, "timeMinutes": 0])
            #expect(app.shownBalance == ["danbing": 60, "timeMinutes": 0])
            #expect(try app.refreshBalance() == ["danbing": 60, "timeMinutes": 0])
            #expect(try deployment.store().unfinished(appleAccount: user, environment: "Production").isEmpty)
            let books = Books(deployment: deployment)
            #expect(try books.grants(delivery.transactionID) == 1)
            #expect(try books.balances(user) == ["DANBING": 60])
            var backend = try deployment.backend(user)
            let transaction = try backend.send("GET", "/api/iap/transactions/" + delivery.transactionID)
            #expect(transaction["status"] == "GRANTED")
            #expect(transaction["environment"] == "PRODUCTION")
            try books.expectConsistent()
        }
    }

    @Test func `the same evidence five times is one grant, then ALREADY_GRANTED with the balance (T2, A-141)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("t2-anna")
            let order = try backend.order("pyy_danbing_300")
            let purchase = try deployment.purchase(
                "pyy_danbing_300", account: "t2-anna", token: order.appAccountToken)
            var answers: [String] = []
            for _ in 1...5 {
                let delivery = try backend.verify(purchase.signedTransactionInfo, orderNumber: order.number)
                answers.append(delivery.status)
                #expect(delivery.balance == ["danbing": 300, "timeMinutes": 0])
            }
            #expect(answers == ["GRANTED"] + Array(repeating: "ALREADY_GRANTED", count: 4))
            let books = Books(deployment: deployment)
            #expect(try books.grants(purchase.transactionID) == 1)
            #expect(try books.balances("t2-anna") == ["DANBING": 300])
        }
    }

    @Test func `an answer lost on the way is made good after a restart of the app, once (T3, A-142)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let user = "t3-anna"
            let proxy = try FaultyProxy(port: deployment.port("gateway"))
            defer { proxy.close() }
            var backend = try deployment.backend(user)
            let order = try backend.order("pyy_timecard_60m")
            let purchase = try deployment.purchase("pyy_timecard_60m", account: user, token: order.appAccountToken)
            proxy.cut(whenSeen: "/api/iap/apple/verify", from: .client, .whenAnswered)
            // A connection of its own: libcurl sends again by itself what a kept-alive connection broke under.
            let app = try deployment.device(user, gateway: "http://127.0.0.1:\(proxy.port)", maximumAttempts: 1)
            guard case .kept(.transport) = try app.deliver(purchase, orderNumber: order.number) else {
                Issue.record("the answer was not lost")
                return
            }
            #expect(proxy.triggeredCuts == 1)
            #expect(app.shownBalance == nil)
            #expect(try deployment.store().unfinished(appleAccount: user, environment: "Production").count == 1)
            // The app is started again, with nothing but its file and StoreKit's unfinished transactions.
            let restarted = try deployment.device(user)
            guard case .delivered(let delivery) = try restarted.resendUnfinished().first else {
                Issue.record("not delivered by the second start")
                return
            }
            #expect(delivery.status == "ALREADY_GRANTED")
            #expect(restarted.shownBalance == ["danbing": 0, "timeMinutes": 60])
            #expect(try deployment.store().unfinished(appleAccount: user, environment: "Production").isEmpty)
            #expect(try Books(deployment: deployment).grants(delivery.transactionID) == 1)
            #expect(try restarted.resendUnfinished().isEmpty)
        }
    }

    @Test func `a transaction for another product than its order is refused and stays claimable (T4, A-143)`()
        async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("t4-anna")
            let order = try backend.order("pyy_danbing_60")
            let purchase = try deployment.purchase(
                "pyy_timecard_60m", account: "t4-anna", token: order.appAccountToken)
            let problem = refusal { () throws(BackendError) in
                _ = try backend.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            }
            #expect(problem?.status == 409)
            #expect(problem?.code == "ORDER_PRODUCT_MISMATCH")
            #expect(problem?.mayFinish == false)
            let books = Books(deployment: deployment)
            #expect(try books.grants(purchase.transactionID) == 0)
            #expect(try backend.balance() == ["danbing": 0, "timeMinutes": 0])
            let delivery = try backend.verify(purchase.signedTransactionInfo, orderNumber: nil)
            #expect(delivery.status == "GRANTED")
            #expect(try books.grants(purchase.transactionID) == 1)
        }
    }

    @Test func `another user's order is refused, and its owner still gets the purchase (T5, A-144)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var anna = try deployment.backend("t5-anna")
            var bert = try deployment.backend("t5-bert")
            let order = try anna.order("pyy_danbing_60")
            let purchase = try deployment.purchase(
                "pyy_danbing_60", account: "t5-anna", token: order.appAccountToken)
            let problem = refusal { () throws(BackendError) in
                _ = try bert.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            }
            #expect(problem?.status == 403)
            #expect(problem?.code == "ORDER_USER_MISMATCH")
            #expect(problem?.mayFinish == false)
            #expect(try bert.balance() == ["danbing": 0, "timeMinutes": 0])
            let delivery = try anna.verify(purchase.signedTransactionInfo, orderNumber: order.number)
            #expect(delivery.status == "GRANTED")
            #expect(delivery.balance == ["danbing": 60, "timeMinutes": 0])
        }
    }

    @Test func `a product the client invents is neither ordered nor granted (A-108)`() async throws {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            var backend = try deployment.backend("a108-anna")
            let problem = refusal { () throws(BackendError) in _ = try backend.order("pyy_danbing_999999") }
            #expect(problem?.status == 404)
            #expect(problem?.code == "UNKNOWN_APPLE_PRODUCT_ID")
            // What is signed counts, not what the body says.
            let purchase = try deployment.purchase("pyy_danbing_60", account: "a108-anna")
            let body: JSONObject = [
                "signedTransactionInfo": .string(purchase.signedTransactionInfo), "productId": "pyy_danbing_999999",
                "grantAmount": 999_999, "userId": "somebody",
            ]
            let answer = try backend.send("POST", "/api/iap/apple/verify-without-order", body)
            #expect(answer["grantAmount"] == 60)
            #expect(try backend.balance() == ["danbing": 60, "timeMinutes": 0])
        }
    }

    @Test func `Ask to Buy: nothing until a parent approves, then delivered by its order (A-103, A-104)`() async throws
    {
        let deployment = try await Deployment.shared("purchases")
        try await onThread {
            let app = try deployment.device("a103-child")
            guard case .pending(let id) = try app.buy("pyy_danbing_60", .asksParent) else {
                Issue.record("not pending")
                return
            }
            #expect(try app.resendUnfinished().isEmpty)
            #expect(try app.refreshBalance() == ["danbing": 0, "timeMinutes": 0])
            _ = try deployment.store().decide(pendingID: id, isApproved: true)
            guard case .delivered(let delivery) = try deployment.device("a103-child").resendUnfinished().first else {
                Issue.record("not delivered")
                return
            }
            #expect(delivery.status == "GRANTED")
            #expect(delivery.balance == ["danbing": 60, "timeMinutes": 0])
        }
    }
}
