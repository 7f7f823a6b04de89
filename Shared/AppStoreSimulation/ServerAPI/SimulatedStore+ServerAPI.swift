public import JSON

/// What Apple's Server API answers about one app in one environment.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi.
extension SimulatedStore {
    /// Get Transaction Info.
    public func transactionInfo(
        _ id: String, of app: SimulatedApp, environment: String
    ) throws(ServerAPIRefusal) -> JSONObject {
        ["signedTransactionInfo": .string(try signedInfo(try found(id, app, environment)))]
    }

    /// Get Transaction History of the customer of any transaction. `isVersion1` leaves finished consumables out unless
    /// they were refunded.
    public func transactionHistory(
        _ id: String, of app: SimulatedApp, environment: String, query: [(name: String, value: String)],
        isVersion1: Bool = false
    ) throws(ServerAPIRefusal) -> JSONObject {
        let customer = try found(id, app, environment)
        let filter = try HistoryFilter(query)
        let mark = try Self.mark(filter.revision, filter.fingerprint)
        let records = all(of: customer, app).filter { record in
            filter.accepts(record) && !(isVersion1 && Self.isLeftOut(record))
        }
        // By the date of the newest change, so a changed transaction shows up again at the end.
        let page = Page(
            of: records.map { ($0.payload["signedDate"]?.intValue ?? 0, $0.transactionID, $0) }, after: mark,
            question: filter.fingerprint, isDescending: filter.isDescending)
        var answer = try pageJSON(page)
        answer.set("bundleId", .string(app.bundleID))
        if let id = app.appAppleID, environment == "Production" { answer.set("appAppleId", .integer(id)) }
        answer.set("environment", .string(environment))
        return answer
    }

    /// Get Refund History, oldest refund first.
    public func refundHistory(
        _ id: String, of app: SimulatedApp, environment: String, revision: String?
    ) throws(ServerAPIRefusal) -> JSONObject {
        let customer = try found(id, app, environment)
        let refunds = all(of: customer, app).compactMap { record in
            record.payload["revocationDate"]?.intValue.map { ($0, record.transactionID, record) }
        }
        return try pageJSON(
            Page(of: refunds, after: try Self.mark(revision, "refunds"), question: "refunds"))
    }

    /// Get All Subscription Statuses of the customer of any transaction; `statuses` narrows them.
    public mutating func subscriptionStatuses(
        _ id: String, of app: SimulatedApp, environment: String, statuses: [String]
    ) throws(ServerAPIRefusal) -> JSONObject {
        let customer = try found(id, app, environment)
        guard statuses.allSatisfy({ ["1", "2", "3", "4", "5"].contains($0) }) else {
            throw ServerAPIRefusal(4_000_031, "Invalid status.")
        }
        let subscriptions = books.subscriptions.values.filter {
            $0.environment == environment && $0.bundleID == app.bundleID && $0.appleAccount == customer.appleAccount
                && (statuses.isEmpty || statuses.contains(String($0.status.rawValue)))
        }
        var groups: [String: [JSONValue]] = [:]
        for subscription in subscriptions.sorted(by: { $0.originalTransactionID < $1.originalTransactionID }) {
            guard let record = books.record(subscription.lastTransactionID, environment) else { continue }
            groups[subscription.groupID, default: []].append([
                "originalTransactionId": .string(subscription.originalTransactionID),
                "status": .integer(subscription.status.rawValue),
                "signedTransactionInfo": .string(try signedInfo(record)),
                "signedRenewalInfo": .string(try signedRenewal(subscription)),
            ])
        }
        let data = groups.sorted { $0.key < $1.key }.map { group -> JSONValue in
            ["subscriptionGroupIdentifier": .string(group.key), "lastTransactions": .array(group.value)]
        }
        return [
            "environment": .string(environment), "bundleId": .string(app.bundleID), "data": .array(data),
        ]
    }

    /// Look Up Order ID: 0 and the transactions of the order, or 1.
    public func lookUp(
        order: String, of app: SimulatedApp, environment: String
    ) throws(ServerAPIRefusal) -> JSONObject {
        let found = books.records.values.filter {
            $0.environment == environment && $0.payload["bundleId"]?.stringValue == app.bundleID
                && SignedPurchase.orderID(of: $0.transactionID) == order
        }
        var transactions: [JSONValue] = []
        for record in found { transactions.append(.string(try signedInfo(record))) }
        return ["status": transactions.isEmpty ? 1 : 0, "signedTransactions": .array(transactions)]
    }

    // MARK: - Finding

    /// The transaction, if it is the app's.
    func found(_ id: String, _ app: SimulatedApp, _ environment: String) throws(ServerAPIRefusal) -> StoreRecord {
        guard (1...32).contains(id.utf8.count), id.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw .invalidTransactionID
        }
        guard let record = books.record(id, environment), record.payload["bundleId"]?.stringValue == app.bundleID else {
            throw .transactionNotFound
        }
        return record
    }

    /// Everything the customer of a transaction bought in the app.
    private func all(of customer: StoreRecord, _ app: SimulatedApp) -> [StoreRecord] {
        books.records.values.filter {
            $0.appleAccount == customer.appleAccount && $0.environment == customer.environment
                && $0.payload["bundleId"]?.stringValue == app.bundleID
        }
    }

    private static func isLeftOut(_ record: StoreRecord) -> Bool {
        record.isFinished && record.payload["type"] == "Consumable" && record.payload["revocationDate"] == nil
    }

    private static func mark(_ revision: String?, _ question: String) throws(ServerAPIRefusal) -> PageMark? {
        guard let revision else { return nil }
        guard let mark = PageMark(revision, question: question) else { throw .invalidRevision }
        return mark
    }

    private func pageJSON(_ page: Page<StoreRecord>) throws(ServerAPIRefusal) -> JSONObject {
        var transactions: [JSONValue] = []
        for record in page.items { transactions.append(.string(try signedInfo(record))) }
        var answer: JSONObject = ["signedTransactions": .array(transactions), "hasMore": .bool(page.hasMore)]
        if let end = page.end { answer.set("revision", .string(end.text)) }
        return answer
    }

    private func signedInfo(_ record: StoreRecord) throws(ServerAPIRefusal) -> String {
        do {
            return try signed(record).signedTransactionInfo
        } catch {
            throw .internalError
        }
    }

    private mutating func signedRenewal(_ subscription: SimulatedSubscription) throws(ServerAPIRefusal) -> String {
        do {
            return try sign(subscription.renewalInfo(signedDate: nextDate(after: 0)))
        } catch {
            throw .internalError
        }
    }
}
