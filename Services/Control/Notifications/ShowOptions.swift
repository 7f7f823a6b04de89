import Messages
import Pipeline

/// What `purser notifications show` was asked.
struct ShowOptions: Equatable {
    static let usage = """
        usage: purser notifications show UUID [--environment Production|Sandbox] [--payload] [--raw] [--json]

        One notification by Apple's UUID, or a refusal by the message that brought it: when it came and how often,
        what was told on of it and when, who asked for it to be told again.

          --payload   what it says, decoded: personal data
          --raw       the exact text that Apple signed; of a refusal what was kept of it: personal data
          --json      one JSON object instead of lines
        """

    var uuid = ""
    var environment: StoreEnvironment?
    var showsPayload = false
    var showsRaw = false
    var isJSON = false

    init(_ arguments: [String]) throws(WordProblem) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--payload": showsPayload = true
            case "--raw": showsRaw = true
            case "--json": isJSON = true
            case "--environment":
                guard let known = rest.popFirst().flatMap({ StoreEnvironment(rawValue: $0) }) else {
                    throw WordProblem(text: "--environment is Production or Sandbox")
                }
                environment = known
            default:
                guard let bytes = UUIDText.parse(word), uuid.isEmpty else {
                    throw WordProblem(text: "\(word) is neither an option nor the one UUID")
                }
                uuid = UUIDText.format(bytes)
            }
        }
        guard !uuid.isEmpty else { throw WordProblem(text: "which one? It takes a UUID") }
    }
}
