import JSON

/// A page of signed transactions: of a customer's history, or of what was refunded to them. At most 20.
public struct TransactionPage: Sendable, Equatable {
    /// JWS, to be verified like any other.
    public let signedTransactions: [String]
    /// Names this place: ask with it for the next page, or later for what changed since.
    public let revision: String?
    /// Whether there is a next page.
    public let hasMore: Bool

    init(_ object: JSONObject) throws(JSONError) {
        signedTransactions = try object.optionalStrings("signedTransactions") ?? []
        revision = try object.optionalString("revision")
        hasMore = try object.optionalBool("hasMore") ?? false
    }
}

/// A page of notifications that were sent, or should have been.
public struct NotificationPage: Sendable, Equatable {
    /// One notification.
    public struct Item: Sendable, Equatable {
        /// JWS, exactly what was or would have been posted.
        public let signedPayload: String
        /// When and with what result it was sent, at most six times.
        public let sendAttempts: [SendAttempt]

        init(_ object: JSONObject) throws(JSONError) {
            signedPayload = try object.string("signedPayload")
            var attempts: [SendAttempt] = []
            for attempt in try (object.optionalArray("sendAttempts") ?? []).objects("sendAttempts") {
                attempts.append(try SendAttempt(attempt))
            }
            sendAttempts = attempts
        }
    }

    /// The notifications.
    public let items: [Item]
    /// Names the next page.
    public let paginationToken: String?
    /// Whether there is a next page.
    public let hasMore: Bool

    init(_ object: JSONObject) throws(JSONError) {
        items = try (object.optionalArray("notificationHistory") ?? []).readItems()
        paginationToken = try object.optionalString("paginationToken")
        hasMore = try object.optionalBool("hasMore") ?? false
    }
}

/// One attempt of Apple to post a notification.
public struct SendAttempt: Sendable, Equatable {
    /// When (ms since 1970).
    public let attemptDate: Int64?
    /// `SUCCESS`, `TIMED_OUT`, … or newer.
    public let result: String?

    init(_ object: JSONObject) throws(JSONError) {
        attemptDate = try object.optionalInt64("attemptDate")
        result = try object.optionalString("sendAttemptResult")
    }
}

/// What a customer may be known to have bought under an order id of a receipt e-mail.
public struct OrderLookup: Sendable, Equatable {
    /// Whether the order id exists and belongs to this app.
    public let isValid: Bool
    /// JWS.
    public let signedTransactions: [String]

    init(_ object: JSONObject) throws(JSONError) {
        isValid = try object.optionalInt64("status") == 0
        signedTransactions = try object.optionalStrings("signedTransactions") ?? []
    }
}

/// The newest state of one subscription.
public struct SubscriptionStatus: Sendable, Equatable {
    /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public let status: Int64?
    /// First transaction of the chain.
    public let originalTransactionID: String?
    /// JWS.
    public let signedTransactionInfo: String?
    /// JWS.
    public let signedRenewalInfo: String?

    init(_ object: JSONObject) throws(JSONError) {
        status = try object.optionalInt64("status")
        originalTransactionID = try object.optionalString("originalTransactionId")
        signedTransactionInfo = try object.optionalString("signedTransactionInfo")
        signedRenewalInfo = try object.optionalString("signedRenewalInfo")
    }
}

extension [JSONValue] {
    /// Each element as an object.
    func objects(_ path: String) throws(JSONError) -> [JSONObject] {
        var list: [JSONObject] = []
        for value in self {
            // Wrapped once so that the error names the member, as every other one does.
            list.append(try JSONObject([(path, value)]).object(path))
        }
        return list
    }

    fileprivate func readItems() throws(JSONError) -> [NotificationPage.Item] {
        var items: [NotificationPage.Item] = []
        for object in try objects("notificationHistory") { items.append(try NotificationPage.Item(object)) }
        return items
    }
}
