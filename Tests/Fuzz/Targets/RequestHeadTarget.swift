import HTTPServer

/// The judgement of a request's head, and the router, without a socket. The input is the head as text.
struct RequestHeadTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = HTTPWords.all
    let longest = 32 << 10
    private var router = Router<Int>()

    init(_ files: FuzzFiles) {
        seeds = HTTPWords.requests + files.corpus("http")
        let routes = ["/", "/api/iap/products", "/api/iap/transactions/{transactionId}", "/api/{a}/{b}", "/a/b/c"]
        for (number, route) in routes.enumerated() { router.add("GET", route, number) }
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let raw = Self.split(input),
            let head = try? RequestHead(raw, headerLimit: 16 << 10, fieldLimit: 100)
        else { return false }
        try HTTPWords.check(method: head.method, path: head.target.path, headers: head.headers)
        if case .length(let length) = head.framing { try Violation.unless(length >= 0, "a body of \(length) bytes") }
        for (name, value) in head.target.query {
            let isPlain = (name + value).unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            try Violation.unless(isPlain, "a control character in the query")
        }
        if case .found(_, let parameters) = router.resolve(method: "GET", path: head.target.path) {
            try Violation.unless(parameters.values.allSatisfy { !$0.isEmpty }, "an empty parameter of a path")
        }
        return true
    }

    /// Cut as laxly as possible, so that the judgement has something to do.
    private static func split(_ input: [UInt8]) -> RawHead? {
        let lines = input.split(separator: 10, omittingEmptySubsequences: false).map { line in
            line.last == 13 ? line.dropLast() : line
        }
        guard let first = lines.first else { return nil }
        let parts = first.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var fields: [(name: [UInt8], value: [UInt8])] = []
        for line in lines.dropFirst() {
            guard !line.isEmpty, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { break }
            fields.append((Array(line[..<colon]), Array(line[line.index(after: colon)...])))
        }
        return RawHead(
            method: Array(parts[0]), target: Array(parts[1]), version: String(decoding: parts[2], as: UTF8.self),
            fields: fields, size: input.count, isContiguous: true)
    }
}
