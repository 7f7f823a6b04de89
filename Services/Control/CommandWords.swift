/// The words behind a command: `--name value` pairs and flags, each at most once.
struct CommandWords: Equatable {
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// Nil if a word is neither, stands twice, or has no value.
    init?(_ words: some Collection<String>, values names: Set<String>, flags known: Set<String> = []) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if known.contains(word) {
                guard flags.insert(word).inserted else { return nil }
            } else {
                guard names.contains(word), values[word] == nil, let value = rest.popFirst(), !value.isEmpty else {
                    return nil
                }
                values[word] = value
            }
        }
    }

    /// The value of a name.
    subscript(name: String) -> String? { values[name] }

    /// Whether a flag is set.
    func has(_ flag: String) -> Bool { flags.contains(flag) }
}
