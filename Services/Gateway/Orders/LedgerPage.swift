import JOSE
import Messages

/// Which page of a ledger is asked for: the query parameters `asset`, `cursor` and `limit`.
struct LedgerPage: Equatable {
    /// Only this asset, if given.
    let asset: AssetID?
    /// Rows before this ledger id; nil = from the newest.
    let before: Int64?
    /// Rows at most.
    let limit: Int64

    /// Rows of a page unless the caller wants fewer or more.
    static let usualLimit: Int64 = 50
    /// Most rows of a page: an answer of some 25 KB.
    static let largestLimit: Int64 = 100
    /// What a cursor holds besides the id, so that another version can have other cursors.
    private static let cursorPrefix = "ledger/1/"

    /// Reads the parameters of `call`. Parameters without a value count as absent.
    init(_ call: Call) throws(Problem) {
        func parameter(_ name: String) -> String? { call.queryValue(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let name = parameter("asset") {
            guard let known = call.app.assets.first(where: { $0.id.rawValue == name }) else {
                throw Problem(.unknownAsset)
            }
            asset = known.id
        } else {
            asset = nil
        }
        if let text = parameter("cursor") {
            guard let id = Self.id(fromCursor: text) else {
                throw Problem.malformed(
                    "cursor", reason: "parameter.invalid",
                    detail: "The parameter `cursor` must be a nextCursor of an earlier answer, unchanged.")
            }
            before = id
        } else {
            before = nil
        }
        if let text = parameter("limit") {
            guard let number = Int64(text), (1...Self.largestLimit).contains(number) else {
                throw Problem.malformed(
                    "limit", reason: "parameter.invalid",
                    detail: "The parameter `limit` must be a whole number from 1 to \(Self.largestLimit).")
            }
            limit = number
        } else {
            limit = Self.usualLimit
        }
    }

    /// The cursor that continues before the row `id`. Opaque to clients; it can only name rows of its reader's own.
    static func cursor(before id: Int64) -> String { Base64URL.string(Array((cursorPrefix + String(id)).utf8)) }

    private static func id(fromCursor text: String) -> Int64? {
        guard text.utf8.count <= 64, let bytes = Base64URL.decode(text),
            let content = String(validating: bytes, as: UTF8.self), content.hasPrefix(cursorPrefix),
            let id = Int64(content.dropFirst(cursorPrefix.count)), id > 0, cursor(before: id) == text
        else { return nil }
        return id
    }
}
