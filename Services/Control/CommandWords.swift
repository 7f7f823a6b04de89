/// The words behind a command: `--name value` pairs and flags, each at most once, and plain ones.
struct CommandWords: Equatable {
    private var values: [String: String] = [:]
    private var flags: Set<String> = []
    /// What is neither an option nor an option's value, in order.
    private(set) var plain: [String] = []

    /// - Throws: `WordProblem` for a word that is none of these, comes twice, or lacks its value.
    init(_ arguments: [String], values known: Set<String>, flags knownFlags: Set<String> = []) throws(WordProblem) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if known.contains(word) {
                guard values[word] == nil else { throw WordProblem(text: "\(word) comes twice") }
                guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("--") else {
                    throw WordProblem(text: "\(word) takes a value")
                }
                values[word] = value
            } else if knownFlags.contains(word) {
                guard flags.insert(word).inserted else { throw WordProblem(text: "\(word) comes twice") }
            } else if word.hasPrefix("-"), word != "-" {
                throw WordProblem(text: "\(word) is no option")
            } else {
                plain.append(word)
            }
        }
    }

    /// The value of a name.
    subscript(name: String) -> String? { values[name] }

    /// Whether a flag is set.
    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value of an option that must be there.
    func required(_ name: String) throws(WordProblem) -> String {
        guard let value = values[name] else { throw WordProblem(text: "\(name) is missing") }
        return value
    }

    /// A whole number from 1 to `limit`.
    func count(_ name: String, default fallback: Int64, limit: Int64) throws(WordProblem) -> Int64 {
        guard let text = values[name] else { return fallback }
        guard let number = Int64(text), (1...limit).contains(number) else {
            throw WordProblem(text: "\(name) is a number from 1 to \(limit)")
        }
        return number
    }
}
