import Crypto
public import JSON

/// What Apple tells about the notifications it sent.
extension SimulatedStore {
    /// How far back the history reaches (ms): 180 days, 30 in the Sandbox.
    private static func reach(_ environment: String) -> Int64 {
        (environment == "Production" ? 180 : 30) * 86_400_000
    }

    /// Get Notification History, oldest first.
    public mutating func notificationHistory(
        _ body: JSONObject, of app: SimulatedApp, environment: String, paginationToken: String?
    ) throws(ServerAPIRefusal) -> JSONObject {
        let filter = try notificationFilter(body, environment)
        let question = Hex.encode(Array(SHA256.hash(JSONWriter.write(body)).prefix(6)))
        var mark: PageMark?
        if let paginationToken {
            guard let read = PageMark(paginationToken, question: question) else { throw .invalidPaginationToken }
            mark = read
        }
        let wanted = (outbox?.all ?? []).filter {
            $0.bundleID == app.bundleID && $0.environment == environment && filter($0)
        }
        let page = Page(of: wanted.map { ($0.signedDate, $0.uuid, $0) }, after: mark, question: question)
        var answer: JSONObject = [
            "notificationHistory": .array(
                page.items.map {
                    ["signedPayload": .string($0.signedPayload), "sendAttempts": $0.attemptsJSON]
                }), "hasMore": .bool(page.hasMore),
        ]
        if page.hasMore, let end = page.end { answer.set("paginationToken", .string(end.text)) }
        return answer
    }

    /// Request a Test Notification: the token by which its fate is asked for.
    public mutating func requestTest(
        of app: SimulatedApp, environment: String
    ) throws(ServerAPIRefusal) -> JSONObject {
        guard isTold(app.bundleID, environment) else {
            throw ServerAPIRefusal(4_040_007, "No App Store Server Notification URL found for provided app.")
        }
        do {
            let uuids = try tell(
                "TEST", nil, of: app.bundleID, environment, about: nil, DeliveryPlan()
            ) { _ in }
            return ["testNotificationToken": .string((uuids.first ?? "") + "_" + environment)]
        } catch {
            throw .internalError
        }
    }

    /// Get Test Notification Status.
    public func testStatus(
        _ token: String, of app: SimulatedApp, environment: String
    ) throws(ServerAPIRefusal) -> JSONObject {
        let parts = token.split(separator: "_")
        guard parts.count == 2, parts[1] == environment else {
            throw ServerAPIRefusal(4_000_020, "Invalid test notification token.")
        }
        guard let notification = outbox?[String(parts[0])], notification.type == "TEST",
            notification.bundleID == app.bundleID
        else {
            throw ServerAPIRefusal(
                4_040_008,
                "Either the test notification token is expired or the notification and status are not yet available.")
        }
        return ["signedPayload": .string(notification.signedPayload), "sendAttempts": notification.attemptsJSON]
    }

    private mutating func notificationFilter(
        _ body: JSONObject, _ environment: String
    ) throws(ServerAPIRefusal) -> (SentNotification) -> Bool {
        guard let start = body["startDate"]?.intValue else { throw ServerAPIRefusal(4_000_015, "Invalid start date.") }
        guard let end = body["endDate"]?.intValue else { throw ServerAPIRefusal(4_000_016, "Invalid end date.") }
        guard start < end else { throw ServerAPIRefusal(4_000_013, "Start date is after end date.") }
        guard start >= nextDate(after: 0) - Self.reach(environment) else {
            throw ServerAPIRefusal(4_000_012, "Start date is too far in the past.")
        }
        let type = body["notificationType"]?.stringValue
        let subtype = body["notificationSubtype"]?.stringValue
        let transaction = body["transactionId"]?.stringValue
        guard type == nil || transaction == nil else {
            throw ServerAPIRefusal(4_000_019, "Supply either a transaction id or a notification type, but not both.")
        }
        guard subtype == nil || type != nil else { throw ServerAPIRefusal(4_000_018, "Invalid notification type.") }
        let onlyFailures = body["onlyFailures"]?.boolValue ?? false
        return { notification in
            (start...end).contains(notification.signedDate) && (type == nil || notification.type == type)
                && (subtype == nil || notification.subtype == subtype)
                && (transaction == nil || notification.transactionID == transaction
                    || notification.originalTransactionID == transaction)
                && !(onlyFailures && notification.isDelivered)
        }
    }
}
