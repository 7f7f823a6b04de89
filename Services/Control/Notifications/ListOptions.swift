import Messages

/// What `purser notifications list` was asked.
struct ListOptions: Equatable {
    static let usage = """
        usage: purser notifications list [--state stored|quarantined] [--app APP] [--environment Production|Sandbox]
                                         [--type TYPE]… [--transaction ID] [--since TIME] [--until TIME]
                                         [--limit N] [--before N] [--json]

        What Apple told, or what was refused, the newest first.

          --state         stored (default): genuine, told on. quarantined: refused; nothing of it is believed, so
                          it has no environment, type or transaction to ask for
          --type          Apple's type, REFUND for example; may be repeated
          --transaction   a transaction, or the first one of a subscription or of restores
          --since, --until  by the time it was received: 2026-11-30T12:00:00Z or seconds since 1970
          --limit         lines of a page (default 50, at most 1000)
          --before        the next page: the number that the page before it ends with
          --json          one JSON object instead of a table
        """

    /// Which table is read.
    enum State: String { case stored, quarantined }

    /// Lines of a page; at most a thousand of them, half a MB of JSON.
    static let limits = 1...1_000

    var state = State.stored
    var app: String?
    var environment: StoreEnvironment?
    var types: [String] = []
    var transaction: String?
    /// Ms since 1970.
    var since: Int64?
    /// Ms since 1970.
    var until: Int64?
    var limit = 50
    /// Only what came before this number.
    var before: Int64?
    var isJSON = false

    init(_ arguments: [String]) throws(WordProblem) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if word == "--json" {
                isJSON = true
                continue
            }
            guard let value = rest.popFirst(), !value.isEmpty else { throw WordProblem(text: "\(word) needs a value") }
            try take(word, value)
        }
        let believed = environment != nil || !types.isEmpty || transaction != nil
        guard state == .stored || !believed else {
            throw WordProblem(text: "what was refused has no environment, type or transaction that is believed")
        }
    }

    private mutating func take(_ word: String, _ value: String) throws(WordProblem) {
        switch word {
        case "--app": app = value
        case "--type": types.append(value.uppercased())
        case "--transaction": transaction = value
        case "--since": since = try Self.time(word, value)
        case "--until": until = try Self.time(word, value)
        case "--state":
            guard let known = State(rawValue: value) else {
                throw WordProblem(text: "--state is stored or quarantined")
            }
            state = known
        case "--environment":
            guard let known = StoreEnvironment(rawValue: value) else {
                throw WordProblem(text: "--environment is Production or Sandbox")
            }
            environment = known
        case "--limit":
            guard let number = Int(value), Self.limits.contains(number) else {
                throw WordProblem(text: "--limit is a number from 1 to \(Self.limits.upperBound)")
            }
            limit = number
        case "--before":
            guard let number = Int64(value), number > 0 else { throw WordProblem(text: "--before is a page's number") }
            before = number
        default: throw WordProblem(text: "unknown option \(word)")
        }
    }

    private static func time(_ word: String, _ value: String) throws(WordProblem) -> Int64 {
        guard let seconds = TimeText.seconds(value) else {
            throw WordProblem(text: "\(word) must look like 2026-11-30T12:00:00Z, or be seconds since 1970")
        }
        return seconds * 1_000
    }
}
