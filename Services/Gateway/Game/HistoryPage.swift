import JOSE
import Messages

/// Which page of a history is asked for: `limit` and `cursor`.
struct HistoryPage: Equatable {
    /// Only what was delivered before this place; nil = from the newest.
    let before: HistoryPlace?
    /// Records at most.
    let limit: Int64

    /// Records of a page unless the caller wants fewer or more.
    static let usualLimit: Int64 = 50
    /// Most records of a page: an answer of some 20 KB.
    static let largestLimit: Int64 = 100
    /// What a cursor holds besides the place, so that another version can have other cursors.
    private static let cursorPrefix = "history/1/"

    /// Reads the query's parameters; those without a value count as absent.
    init(_ call: Call) throws(Problem) {
        let limit = call.queryValue("limit") ?? ""
        guard let number = limit.isEmpty ? 0 : Int64(limit), limit.isEmpty || number != 0 else {
            throw Self.wrongLimit
        }
        try self.init(limit: number, cursor: call.queryValue("cursor") ?? "")
    }

    /// A page; `limit` 0 is the usual one, an empty `cursor` the newest.
    init(limit: Int64, cursor: String) throws(Problem) {
        guard (0...Self.largestLimit).contains(limit) else { throw Self.wrongLimit }
        self.limit = limit == 0 ? Self.usualLimit : limit
        guard !cursor.isEmpty else {
            before = nil
            return
        }
        guard let place = Self.place(fromCursor: cursor) else {
            throw Problem.malformed(
                "cursor", reason: "parameter.invalid",
                detail: "The parameter `cursor` must be the next cursor of an earlier answer, unchanged.")
        }
        before = place
    }

    /// The cursor that continues before `place`. Opaque to clients; it can only name places in its reader's own history.
    static func cursor(before place: HistoryPlace) -> String {
        let text =
            "\(cursorPrefix)\(place.microseconds)/\(place.environment.rawValue)/\(place.transactionID.rawValue)"
        return Base64URL.string(Array(text.utf8))
    }

    private static var wrongLimit: Problem {
        Problem.malformed(
            "limit", reason: "parameter.invalid",
            detail: "The parameter `limit` must be a whole number from 1 to \(largestLimit).")
    }

    private static func place(fromCursor text: String) -> HistoryPlace? {
        guard text.utf8.count <= 128, let bytes = Base64URL.decode(text),
            let content = String(validating: bytes, as: UTF8.self), content.hasPrefix(cursorPrefix)
        else { return nil }
        let parts = content.dropFirst(cursorPrefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let microseconds = Int64(parts[0]), microseconds > 0,
            let environment = StoreEnvironment(rawValue: String(parts[1])),
            PlainText.isUsable(String(parts[2]), longest: 64)
        else { return nil }
        let place = HistoryPlace(
            microseconds: microseconds, environment: environment, transactionID: TransactionID(String(parts[2])))
        return cursor(before: place) == text ? place : nil
    }
}
