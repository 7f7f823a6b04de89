/// The word of an answer, read from its JSON without decoding it: hundreds of thousands are read.
enum Answer {
    /// The code, or the order's number, or the outcome or status; with the balance after it, if there is one.
    static func word(_ body: [UInt8]) -> String {
        let word =
            text("code", in: body) ?? text("orderNumber", in: body) ?? text("outcome", in: body)
            ?? text("status", in: body) ?? "-"
        return number("balanceAfter", in: body).map { "\(word) \($0)" } ?? word
    }

    private static func text(_ field: String, in body: [UInt8]) -> String? {
        guard let start = find("\"\(field)\":\"", in: body) else { return nil }
        let rest = body[start...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func number(_ field: String, in body: [UInt8]) -> String? {
        guard let start = find("\"\(field)\":", in: body) else { return nil }
        return String(decoding: body[start...].prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self)
    }

    /// Where the text after `pattern` begins.
    private static func find(_ pattern: String, in body: [UInt8]) -> Int? {
        let wanted = Array(pattern.utf8)
        guard body.count >= wanted.count else { return nil }
        for start in 0...(body.count - wanted.count) where body[start] == wanted[0] {
            if body[start..<start + wanted.count].elementsEqual(wanted) { return start + wanted.count }
        }
        return nil
    }
}
