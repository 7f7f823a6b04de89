import AppStoreSimulation
import JSON
import Observability
import Postgres
import Runtime

/// What Apple tells the server itself: scenes in which no client says anything.
extension DemoStory {
    /// Longer than any notification takes that is posted at once.
    static let patience = Duration.seconds(15)

    /// The last scenes.
    func tellWhatAppleTells(bundleID: String, gateway: String) throws {
        try store.register(try DrillSettings().simulatedApp(notificationURL: gateway + "/apple/iap/notifications"))
        let bought = try neverComeBack()
        try takeItBack(bought)
        try refundWhatIsSpent()
        try sayHowMuchWasUsed()
    }

    private func neverComeBack() throws -> SignedPurchase {
        expectations.scene("12. Anna pays, and her phone falls into the sea; Apple tells us (ONE_TIME_CHARGE)")
        let order = try order("pyy_danbing_300")
        let bought = try purchase("pyy_danbing_300", order, notification: DeliveryPlan())
        try expectSoon("danbing without any client", 660) { try app.balance()["danbing"] }
        let delivery = try app.verify(bought.signedTransactionInfo, orderNumber: order.number)
        expectations.expect("her new phone is answered", delivery.status, "ALREADY_GRANTED")
        try store.finish(bought.transactionID, environment: bought.environment)
        return bought
    }

    private func takeItBack(_ bought: SignedPurchase) throws {
        expectations.scene("13. Apple refunds it and tells us: the same notification three times")
        let plan = DeliveryPlan(duplicates: 2)
        _ = try store.refund(bought.transactionID, environment: "Production", notification: plan)
        try expectSoon("danbing after the refund", 360) { try app.balance()["danbing"] }
        try waitUntilTold(bought.transactionID)
        expectations.expect(
            "danbing, newest first", Array(try ledger("DANBING").prefix(3)),
            ["OUT 300 = 360 APPLE_REFUND", "IN 300 = 660 APPLE_IAP", "OUT 60 = 360 APPLE_REFUND"])
        let path = "/api/iap/transactions/" + bought.transactionID
        expectations.expect("the transaction", try app.send("GET", path)["status"]?.stringValue ?? "", "REVOKED")
    }

    private func refundWhatIsSpent() throws {
        expectations.scene("14. Bert buys 60 danbing, spends 50, and gets his money back")
        let order = try other.order("pyy_danbing_60")
        let bought = try purchase("pyy_danbing_60", order, by: bert)
        let delivery = try other.verify(bought.signedTransactionInfo, orderNumber: order.number)
        expectations.expect("answer", delivery.status, "GRANTED")
        let spent = try server.send(
            "POST", "/api/wallet/consume",
            [
                "userId": .string(bert), "assetType": "DANBING", "amount": 50, "sourceId": "session-bert",
                "deadline": "2099-01-01T00:00:00Z",
            ])
        expectations.expect("danbing left", spent["balanceAfter"]?.intValue ?? -1, 10)
        _ = try store.refund(bought.transactionID, environment: "Production")
        try expectSoon("danbing after the refund: never below zero", 0) { try other.balance()["danbing"] }
        expectations.expect(
            "danbing, newest first", try ledger("DANBING", of: bert),
            ["OUT 10 = 0 APPLE_REFUND", "OUT 50 = 10 APP_USAGE", "IN 60 = 60 APPLE_IAP"])
        try showDebt(bought.transactionID)
        // Every notification of scene 13 was handled before this one.
        try expectBalance(danbing: 360, minutes: 210)
    }

    private func sayHowMuchWasUsed() throws {
        expectations.scene("15. Bert asks Apple for a refund; Apple asks how much he used, and is told once he agrees")
        let order = try other.order("pyy_danbing_60")
        let bought = try purchase("pyy_danbing_60", order, by: bert)
        _ = try other.verify(bought.signedTransactionInfo, orderNumber: order.number)
        _ = try server.send(
            "POST", "/api/wallet/consume",
            [
                "userId": .string(bert), "assetType": "DANBING", "amount": 15, "sourceId": "session-bert-2",
                "deadline": "2099-01-01T00:00:00Z",
            ])
        let consent = try other.send("PUT", "/api/iap/consumption-consent", [:])
        expectations.expect("his consent", consent["consented"]?.boolValue ?? false, true)
        _ = try store.requestConsumption(bought.transactionID, environment: "Production")
        func told() throws -> JSONObject? {
            try store.consumption(of: bought.transactionID, environment: "Production").first
        }
        try expectSoon("consumed, in thousandths of a per cent, as Apple is told", 25_000) {
            try told()?["consumptionPercentage"]?.intValue
        }
        expectations.expect("delivered", try told()?["deliveryStatus"]?.stringValue ?? "", "DELIVERED")
    }

    /// What is owed, as the auditor reads it; where there is no database to ask, the scene goes without.
    private func showDebt(_ transactionID: String) throws {
        guard let auditor else { return }
        // The auditor's sessions are read-only, which is what a service takes for a replica.
        var connection = try Connection.open(
            Secret(auditor.reveal() + " target_session_attrs=any"), applicationName: "purser-drills")
        defer { connection.close() }
        let rows = try connection.query(
            "SELECT asset, amount - settled AS open FROM granting.debts WHERE transaction_id = $1",
            [.text(transactionID)])
        let owed = try rows.map { "\(try $0.int8("open")) \(try $0.text("asset"))" }
        expectations.expect("owed (granting.debts)", owed, ["50 DANBING"])
    }

    /// Waits until everything told about a transaction was answered with success.
    private func waitUntilTold(_ transactionID: String) throws {
        try expectSoon("notifications that are still on their way", 0) {
            Int64(try store.notifications(about: transactionID).count { $0["finished"] != true })
        }
    }

    /// Waits until it is so, and expects it.
    func expectSoon(
        _ what: String, _ expected: Int64, within limit: Duration = patience, _ value: () throws -> Int64?
    ) throws {
        let deadline = ContinuousClock.now + limit
        let pause = StopSignal()
        var seen = try value()
        while seen != expected, ContinuousClock.now < deadline {
            _ = pause.wait(for: .milliseconds(50))
            seen = try value()
        }
        expectations.expect(what, seen ?? -1, expected)
    }
}
