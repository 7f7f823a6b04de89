public import JSON

/// What happens at Apple besides purchases, asked of the simulator.
extension RemoteStore {
    /// Tells the simulator an app's addresses and key.
    public func register(_ app: SimulatedApp) throws(StoreError) {
        _ = try send("PUT", "/simulator/apps/" + PercentEncoding.encode(app.bundleID), app.json)
    }

    /// Refunds a share in milliunits (100,000 = all of it), or takes the refund back (0).
    public func refund(
        _ transactionID: String, environment: String, milliunits: Int64, notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        try event("refunds", transactionID, environment, notification, ["milliunits": .integer(milliunits)])
    }

    /// Apple refuses a refund that was asked for.
    public func declineRefund(
        _ transactionID: String, environment: String, notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        try event("refund-declines", transactionID, environment, notification)
    }

    /// The customer asks for a refund, and Apple asks how much was used.
    public func requestConsumption(
        _ transactionID: String, environment: String, reason: String = "UNINTENDED_PURCHASE",
        notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        try event("consumption-requests", transactionID, environment, notification, ["reason": .string(reason)])
    }

    /// Family Sharing of this transaction ends.
    public func revoke(
        _ transactionID: String, environment: String, notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> SignedPurchase {
        try event("family-revocations", transactionID, environment, notification)
    }

    /// What the app's server told about the use of a transaction.
    public func consumption(of transactionID: String, environment: String) throws(StoreError) -> [JSONObject] {
        let query = "environment=" + PercentEncoding.encode(environment)
        let path = "/simulator/transactions/\(PercentEncoding.encode(transactionID))/consumption?" + query
        return (try send("GET", path, nil)["consumption"]?.arrayValue ?? []).compactMap(\.objectValue)
    }

    /// Subscribes: the state with its newest transaction and renewal info.
    public func subscribe(_ request: SubscriptionRequest) throws(StoreError) -> JSONObject {
        try send("POST", "/simulator/subscriptions", request.json)
    }

    /// Changes a subscription.
    public func change(
        _ originalTransactionID: String, environment: String, _ action: SubscriptionAction,
        notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> JSONObject {
        var body = action.json
        body.set("environment", .string(environment))
        body.set("notification", .object(notification.json))
        return try send(
            "POST", "/simulator/subscriptions/" + PercentEncoding.encode(originalTransactionID), body)
    }

    /// Tells any notification: its UUIDs.
    public func tell(
        _ type: String, subtype: String? = nil, bundleID: String, environment: String = "Production",
        transactionID: String? = nil, fields: JSONObject = [:], notification: DeliveryPlan = DeliveryPlan()
    ) throws(StoreError) -> [String] {
        var body: JSONObject = [
            "notificationType": .string(type), "bundleId": .string(bundleID), "environment": .string(environment),
            "fields": .object(fields), "notification": .object(notification.json),
        ]
        if let subtype { body.set("subtype", .string(subtype)) }
        if let transactionID { body.set("transactionId", .string(transactionID)) }
        let answer = try send("POST", "/simulator/notifications", body)
        return (answer["notificationUUIDs"]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    /// What became of the notifications about a transaction, or of all, oldest first.
    public func notifications(about transactionID: String? = nil) throws(StoreError) -> [JSONObject] {
        let query = transactionID.map { "?transactionId=" + PercentEncoding.encode($0) } ?? ""
        let answer = try send("GET", "/simulator/notifications" + query, nil)
        return (answer["notifications"]?.arrayValue ?? []).compactMap(\.objectValue)
    }

    /// The next `count` calls of the Server API go wrong; see the simulator's page for the modes.
    public func spoilServerAPI(
        _ mode: String, count: Int64 = 1, details: JSONObject = [:]
    ) throws(StoreError) {
        var body: JSONObject = ["mode": .string(mode), "count": .integer(count)]
        for (key, value) in details.members { body.set(key, value) }
        _ = try send("POST", "/simulator/server-api/faults", body)
    }

    /// From now on the responder answers this way about a certificate (`leaf` or `intermediate`); see the simulator's page
    /// for the modes.
    public func answerAboutRevocation(
        _ mode: SimulatedResponder.Mode, about certificate: String = "leaf", details: JSONObject = [:]
    ) throws(StoreError) {
        var body: JSONObject = ["mode": .string(mode.rawValue), "certificate": .string(certificate)]
        for (key, value) in details.members { body.set(key, value) }
        _ = try send("POST", "/simulator/ocsp", body)
    }

    /// Makes the next answers of `verifyReceipt` go wrong; see the simulator's page for the modes.
    public func failVerifyReceipt(_ mode: String, details: JSONObject = [:]) throws(StoreError) {
        var body: JSONObject = ["mode": .string(mode)]
        for (key, value) in details.members { body.set(key, value) }
        _ = try send("POST", "/simulator/verify-receipt/faults", body)
    }

    private func event(
        _ name: String, _ transactionID: String, _ environment: String, _ plan: DeliveryPlan,
        _ members: JSONObject = [:]
    ) throws(StoreError) -> SignedPurchase {
        var body: JSONObject = [
            "transactionId": .string(transactionID), "environment": .string(environment),
            "notification": .object(plan.json),
        ]
        for (key, value) in members.members { body.set(key, value) }
        return try Self.purchase(try send("POST", "/simulator/" + name, body))
    }
}
