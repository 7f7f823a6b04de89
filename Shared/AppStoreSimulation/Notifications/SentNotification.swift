public import JSON

/// A notification on its way or at its end, as the history tells it.
public struct SentNotification: Sendable, Equatable {
    /// One attempt to post it.
    public struct Attempt: Sendable, Equatable {
        /// Milliseconds since 1970.
        public let date: Int64
        /// Apple's word: `SUCCESS`, `TIMED_OUT`, ….
        public let result: String
    }

    /// `notificationUUID`.
    public let uuid: String
    /// `notificationType`.
    public let type: String
    /// `subtype`.
    public let subtype: String?
    /// The app.
    public let bundleID: String
    /// `Production` or `Sandbox`.
    public let environment: String
    /// What it is about; nil for those about no transaction.
    public let transactionID: String?
    /// First of the chain it is about.
    public let originalTransactionID: String?
    /// When it was signed (ms since 1970).
    public let signedDate: Int64
    /// JWS, exactly what is posted.
    public let signedPayload: String
    /// Those that count for the history: copies are not among them.
    public internal(set) var attempts: [Attempt] = []
    /// Posts to be made besides, whatever is answered.
    var duplicates: Int64
    /// When it is posted next (ms since 1970); nil if never again.
    var dueAt: Int64?
    /// Whether the next notification of the app goes first.
    var isHeldBack: Bool

    /// Whether it was answered with 200 to 206.
    public var isDelivered: Bool { attempts.last?.result == "SUCCESS" }
    /// Whether nothing more will be posted.
    public var isFinished: Bool { dueAt == nil }
}

extension SentNotification {
    init(_ object: JSONObject) throws(JSONError) {
        uuid = try object.string("notificationUUID")
        type = try object.string("notificationType")
        subtype = try object.optionalString("subtype")
        bundleID = try object.string("bundleId")
        environment = try object.string("environment")
        transactionID = try object.optionalString("transactionId")
        originalTransactionID = try object.optionalString("originalTransactionId")
        signedDate = try object.int64("signedDate")
        signedPayload = try object.string("signedPayload")
        duplicates = try object.int64("duplicates")
        dueAt = try object.optionalInt64("dueAt")
        isHeldBack = try object.bool("heldBack")
        attempts = try object.readEach("sendAttempts") { (attempt) throws(JSONError) in
            Attempt(date: try attempt.int64("attemptDate"), result: try attempt.string("sendAttemptResult"))
        }
    }

    /// What the store keeps and `GET /simulator/notifications` answers.
    public var json: JSONObject {
        var object: JSONObject = ["notificationUUID": .string(uuid), "notificationType": .string(type)]
        if let subtype { object.set("subtype", .string(subtype)) }
        object.set("bundleId", .string(bundleID))
        object.set("environment", .string(environment))
        if let transactionID { object.set("transactionId", .string(transactionID)) }
        if let originalTransactionID { object.set("originalTransactionId", .string(originalTransactionID)) }
        object.set("signedDate", .integer(signedDate))
        object.set("duplicates", .integer(duplicates))
        if let dueAt { object.set("dueAt", .integer(dueAt)) }
        object.set("heldBack", .bool(isHeldBack))
        object.set("delivered", .bool(isDelivered))
        object.set("finished", .bool(isFinished))
        object.set("sendAttempts", attemptsJSON)
        object.set("signedPayload", .string(signedPayload))
        return object
    }

    /// As Get Notification History answers them.
    var attemptsJSON: JSONValue {
        .array(attempts.map { ["attemptDate": .integer($0.date), "sendAttemptResult": .string($0.result)] })
    }
}
