import Messages
import Observability
import Postgres

/// `purser find`: what the books say about a customer, an order or a purchase: a timeline. Reads only, as role
/// `purser_auditor`.
struct FindCommand {
    static let usage = """
        usage: purser find --transaction ID [--payload]
               purser find --order NUMBER
               purser find --apple-order ID [--payload]
               purser find --user USER --app APP [--limit NUMBER]

          --apple-order  by the order id of Apple's e-mail: Apple is asked (Production only)
          --payload  what Apple signed, decoded: personal data
          --limit    purchases and lines of the ledger, the newest first; 20 without it
        """

    let output: (String) -> Void
    let environment: [String: String]

    /// What was asked for.
    enum Request: Equatable {
        case transaction(String, showsPayload: Bool)
        case order(String)
        case appleOrder(String, showsPayload: Bool)
        case user(String, app: String, limit: Int64)
    }

    /// Reads the words.
    static func request(_ arguments: [String]) throws(WordProblem) -> Request {
        let words = try CommandWords(
            arguments, values: ["--transaction", "--order", "--apple-order", "--user", "--app", "--limit"],
            flags: ["--payload"])
        let ways = ["--transaction", "--order", "--apple-order", "--user"].filter { words[$0] != nil }
        guard words.plain.isEmpty, ways.count == 1 else {
            throw WordProblem(text: "it takes one of --transaction, --order, --apple-order and --user")
        }
        if let id = words["--transaction"] {
            return .transaction(id, showsPayload: words.has("--payload"))
        }
        if let number = words["--order"] { return .order(number) }
        if let id = words["--apple-order"] {
            let isOrderID =
                (1...64).contains(id.utf8.count) && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            guard isOrderID else {
                throw WordProblem(text: "an order id of Apple is letters and digits, like MK5TTTVWJH")
            }
            return .appleOrder(id, showsPayload: words.has("--payload"))
        }
        return .user(
            try words.required("--user"), app: try words.required("--app"),
            limit: try words.count("--limit", default: 20, limit: 1_000))
    }

    /// Exit code: 0 found, 1 not found or unreachable, 2 wrong usage or settings. For an order id of Apple's, Apple is asked
    /// first. Blocks while it reads.
    nonisolated(nonsending) func run(arguments: [String]) async -> Int32 {
        let request: Request
        do throws(WordProblem) {
            request = try Self.request(arguments)
        } catch {
            output("purser find: \(error.text)")
            output(Self.usage)
            return 2
        }
        guard case .appleOrder(let id, let showsPayload) = request else { return tell(request) }
        var purchases: [AppleOrderAnswered.Purchase] = []
        let code = await Desk.with(environment, output) { desk in
            purchases = await AppleOrderStory(output: output).purchases(of: id, at: desk)
            return purchases.isEmpty ? 1 : 0
        }
        return purchases.map { tell(.transaction($0.transactionID.rawValue, showsPayload: showsPayload)) }
            .reduce(code, max)
    }

    /// Reads and tells; the same exit codes.
    func tell(_ request: Request) -> Int32 {
        return ReadingDesk.with(environment, for: "find", output) { connection in
            var isFound = false
            for section in FindSections.sections(of: request) {
                let rows = try connection.query(section.sql, section.values)
                guard !rows.isEmpty else { continue }
                isFound = true
                output("\(section.title):")
                for row in rows { output("  " + TextTable.printable(try row.text("line"))) }
            }
            guard !isFound else { return 0 }
            output("nothing is known of it")
            return 1
        }
    }
}
