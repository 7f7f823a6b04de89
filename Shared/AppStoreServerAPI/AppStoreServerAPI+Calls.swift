import JSON

/// The calls Purser makes. Every transaction id is checked to be digits before it becomes part of a path.
extension AppStoreServerAPI {
    /// The newest statement of a transaction (JWS): Get Transaction Info.
    public mutating func transactionInfo(_ transactionID: String) throws(ServerAPIError) -> String {
        let path = "/inApps/v1/transactions/\(try ServerAPICall.identifier(transactionID))"
        return try read(try ask(ServerAPICall("GET", path))) { object throws(JSONError) in
            try object.string("signedTransactionInfo")
        }
    }

    /// A page of everything a customer bought in the app, found by any of their transactions: Get Transaction History.
    public mutating func transactionHistory(
        _ transactionID: String, _ query: HistoryQuery = HistoryQuery(), revision: String? = nil
    ) throws(ServerAPIError) -> TransactionPage {
        let parameters = query.parameters + (revision.map { [("revision", $0)] } ?? [])
        return try page("/inApps/v2/history/\(try ServerAPICall.identifier(transactionID))", parameters, .ordinary)
    }

    /// A page of what was refunded to a customer: Get Refund History.
    public mutating func refundHistory(
        _ transactionID: String, revision: String? = nil
    ) throws(ServerAPIError) -> TransactionPage {
        let path = "/inApps/v2/refund/lookup/\(try ServerAPICall.identifier(transactionID))"
        return try page(path, revision.map { [("revision", $0)] } ?? [], .lookup)
    }

    /// The states of a customer's subscriptions: Get All Subscription Statuses.
    public mutating func subscriptionStatuses(
        _ transactionID: String
    ) throws(ServerAPIError) -> [SubscriptionStatus] {
        let path = "/inApps/v1/subscriptions/\(try ServerAPICall.identifier(transactionID))"
        return try read(try ask(ServerAPICall("GET", path))) { object throws(JSONError) in
            var statuses: [SubscriptionStatus] = []
            for group in try (object.optionalArray("data") ?? []).objects("data") {
                for last in try (group.optionalArray("lastTransactions") ?? []).objects("lastTransactions") {
                    statuses.append(try SubscriptionStatus(last))
                }
            }
            return statuses
        }
    }

    /// What a customer bought under the order id of Apple's e-mail: Look Up Order ID.
    public mutating func lookUpOrder(_ orderID: String) throws(ServerAPIError) -> OrderLookup {
        let path = "/inApps/v1/lookup/\(try ServerAPICall.segment(orderID, "order id"))"
        return try read(try ask(ServerAPICall("GET", path, .lookup))) { object throws(JSONError) in
            try OrderLookup(object)
        }
    }

    /// A page of the notifications of a time: Get Notification History. The query must be the same for every page.
    public mutating func notificationHistory(
        _ query: NotificationHistoryQuery, paginationToken: String? = nil
    ) throws(ServerAPIError) -> NotificationPage {
        if case .transaction(let identifier) = query.filter { _ = try ServerAPICall.identifier(identifier) }
        let call = ServerAPICall(
            "POST", "/inApps/v1/notifications/history",
            query: paginationToken.map { [("paginationToken", $0)] } ?? [], body: query.json)
        return try read(try ask(call)) { object throws(JSONError) in try NotificationPage(object) }
    }

    /// Asks Apple to post a TEST notification.
    ///
    /// - Returns: the token by which its fate is asked for.
    public mutating func requestTestNotification() throws(ServerAPIError) -> String {
        let call = ServerAPICall("POST", "/inApps/v1/notifications/test", .testing)
        return try read(try ask(call)) { object throws(JSONError) in try object.string("testNotificationToken") }
    }

    /// What became of a TEST notification, by the token that asking for it returned: Get Test Notification Status.
    public mutating func testNotificationStatus(_ token: String) throws(ServerAPIError) -> NotificationPage.Item {
        let path = "/inApps/v1/notifications/test/\(try ServerAPICall.segment(token, "test notification token"))"
        return try read(try ask(ServerAPICall("GET", path, .testing))) { object throws(JSONError) in
            try NotificationPage.Item(object)
        }
    }

    /// Tells Apple how much of a purchase was used: Send Consumption Information.
    public mutating func sendConsumption(
        _ request: ConsumptionRequest, of transactionID: String
    ) throws(ServerAPIError) {
        let path = "/inApps/v2/transactions/consumption/\(try ServerAPICall.identifier(transactionID))"
        _ = try send(ServerAPICall("PUT", path, body: request.json))
    }

    /// The same in the older form, for purchases of Advanced Commerce.
    public mutating func sendConsumption(
        _ request: ConsumptionRequestV1, of transactionID: String
    ) throws(ServerAPIError) {
        let path = "/inApps/v1/transactions/consumption/\(try ServerAPICall.identifier(transactionID))"
        _ = try send(ServerAPICall("PUT", path, body: request.json))
    }

    private mutating func page(
        _ path: String, _ query: [(String, String)], _ kind: RateBudget.Class
    ) throws(ServerAPIError) -> TransactionPage {
        try read(try ask(ServerAPICall("GET", path, query: query, kind))) { object throws(JSONError) in
            try TransactionPage(object)
        }
    }

    private func read<Answer>(
        _ object: JSONObject, _ decode: (JSONObject) throws(JSONError) -> Answer
    ) throws(ServerAPIError) -> Answer {
        do {
            return try decode(object)
        } catch {
            throw .unreadable(error.code)
        }
    }
}
