import Crypto
import JOSE

/// The place a page ends at, as an opaque text: a date, an id, and which question it belongs to.
struct PageMark: Equatable {
    let date: Int64
    let id: String
    let question: String

    var text: String { Base64URL.string(Array("\(date)|\(id)|\(question)".utf8)) }

    init(date: Int64, id: String, question: String) {
        self.date = date
        self.id = id
        self.question = question
    }

    /// Reads what an earlier page gave; nil if it is something else, or from another question.
    init?(_ text: String, question: String) {
        guard let bytes = Base64URL.decode(text) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "|", omittingEmptySubsequences: false)
        guard parts.count == 3, let date = Int64(parts[0]), parts[2] == question else { return nil }
        self.init(date: date, id: String(parts[1]), question: question)
    }
}

/// One page of a list that is ordered by date and id.
struct Page<Item> {
    /// Apple's number of transactions and notifications on a page.
    static var size: Int { 20 }

    let items: [Item]
    let hasMore: Bool
    /// The end of this page; that of the page before if this one is empty.
    let end: PageMark?

    /// What follows `mark` in `all`, in ascending order, or in descending.
    init(
        of all: [(date: Int64, id: String, item: Item)], after mark: PageMark?, question: String,
        isDescending: Bool = false
    ) {
        func isBefore(_ left: (Int64, String), _ right: (Int64, String)) -> Bool {
            let isLess = left.0 == right.0 ? left.1 < right.1 : left.0 < right.0
            return isDescending ? left != right && !isLess : isLess
        }
        var rest = all.sorted { isBefore(($0.date, $0.id), ($1.date, $1.id)) }
        if let mark { rest.removeAll { !isBefore((mark.date, mark.id), ($0.date, $0.id)) } }
        items = rest.prefix(Self.size).map(\.item)
        hasMore = rest.count > Self.size
        end = rest.prefix(Self.size).last.map { PageMark(date: $0.date, id: $0.id, question: question) } ?? mark
    }
}
