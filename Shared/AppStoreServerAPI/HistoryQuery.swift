public import JSON

/// Which transactions of a customer are wanted. With a revision the same query must be asked again.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/get-v2-history-_transactionid_.
public struct HistoryQuery: Sendable, Equatable {
    /// Purchases from here on (ms since 1970).
    public var startDate: Int64?
    /// Purchases before (ms since 1970).
    public var endDate: Int64?
    /// Only these products.
    public var productIDs: [String] = []
    /// `AUTO_RENEWABLE`, `NON_RENEWABLE`, `CONSUMABLE`, `NON_CONSUMABLE`.
    public var productTypes: [String] = []
    /// Newest change first.
    public var isDescending = false
    /// Only revoked ones, or only those that are not.
    public var isRevoked: Bool?

    /// Everything.
    public init() {}

    var parameters: [(String, String)] {
        var list: [(String, String)] = []
        if let startDate { list.append(("startDate", String(startDate))) }
        if let endDate { list.append(("endDate", String(endDate))) }
        list += productIDs.map { ("productId", $0) } + productTypes.map { ("productType", $0) }
        if isDescending { list.append(("sort", "DESCENDING")) }
        if let isRevoked { list.append(("revoked", isRevoked ? "true" : "false")) }
        return list
    }
}

/// Which notifications are wanted.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest.
public struct NotificationHistoryQuery: Sendable, Equatable {
    /// At most one of the two may narrow the question.
    public enum Filter: Sendable, Equatable {
        case all
        case type(String, subtype: String?)
        case transaction(String)
    }

    /// From here on (ms since 1970); 180 days back at most, 30 in the Sandbox.
    public var startDate: Int64
    /// Up to here (ms since 1970).
    public var endDate: Int64
    /// What to narrow it to.
    public var filter: Filter
    /// Only what did not reach the server, or is still being tried.
    public var onlyFailures: Bool

    /// A question.
    public init(from startDate: Int64, to endDate: Int64, filter: Filter = .all, onlyFailures: Bool = false) {
        self.startDate = startDate
        self.endDate = endDate
        self.filter = filter
        self.onlyFailures = onlyFailures
    }

    /// The body as it is sent.
    public var json: JSONObject {
        var body: JSONObject = ["startDate": .integer(startDate), "endDate": .integer(endDate)]
        switch filter {
        case .all: break
        case .type(let type, let subtype):
            body.set("notificationType", .string(type))
            if let subtype { body.set("notificationSubtype", .string(subtype)) }
        case .transaction(let identifier): body.set("transactionId", .string(identifier))
        }
        if onlyFailures { body.set("onlyFailures", true) }
        return body
    }
}
