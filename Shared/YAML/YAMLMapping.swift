/// Typed access to a mapping: every accessor adds a problem with its place when something is missing or wrong, and
/// `finish` adds one for every key nobody asked for. For one thread.
public final class YAMLMapping {
    /// Where the mapping starts.
    public let position: YAMLPosition
    private let entries: [String: YAMLNode.Entry]
    private let order: [String]
    private let problems: YAMLProblems
    private var asked: Set<String> = []

    /// A text and where it stands.
    public struct Text: Sendable, Hashable {
        /// The text as written.
        public let text: String
        /// Where it stands.
        public let position: YAMLPosition
    }

    /// Wraps a node; nil with a problem if it is no mapping.
    public init?(_ node: YAMLNode, _ problems: YAMLProblems) {
        guard case .mapping(let entries) = node.content else {
            problems.add("expected keys and values here", at: node.position)
            return nil
        }
        position = node.position
        order = entries.map(\.key)
        self.entries = Dictionary(entries.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        self.problems = problems
    }

    /// Where a key's value stands; the mapping's own place if the key is absent.
    public func position(of key: String) -> YAMLPosition {
        entries[key]?.value.position ?? position
    }

    /// Adds a problem at a key's value.
    public func problem(_ message: String, at key: String) {
        problems.add("\(key): \(message)", at: position(of: key))
    }

    /// Adds a problem for every key that no accessor was asked for.
    public func finish() {
        for key in order where !asked.contains(key) {
            guard let entry = entries[key] else { continue }
            problems.add("unknown key \(key)", at: entry.position)
        }
    }

    /// The value of a key, nil if it is absent or null.
    public func optionalNode(_ key: String) -> YAMLNode? {
        asked.insert(key)
        guard let value = entries[key]?.value, !value.isNull else { return nil }
        return value
    }

    /// The value of a key; a problem if it is absent.
    public func node(_ key: String) -> YAMLNode? {
        if let value = optionalNode(key) { return value }
        problems.add("\(key) is missing", at: position(of: key))
        return nil
    }

    /// A required text.
    public func text(_ key: String) -> Text? {
        node(key).flatMap { scalar($0, key) }
    }

    /// An optional text.
    public func optionalText(_ key: String) -> Text? {
        optionalNode(key).flatMap { scalar($0, key) }
    }

    /// A required text that satisfies a rule, described for people.
    public func text(_ key: String, _ rule: String, _ isValid: (String) -> Bool) -> Text? {
        text(key).flatMap { checked($0, key, rule, isValid) }
    }

    /// An optional text that satisfies a rule.
    public func optionalText(_ key: String, _ rule: String, _ isValid: (String) -> Bool) -> Text? {
        optionalText(key).flatMap { checked($0, key, rule, isValid) }
    }

    /// A required integer: digits without quotes, within a range.
    public func int64(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
        node(key).flatMap { integer($0, key, range) }
    }

    /// An optional integer within a range.
    public func optionalInt64(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
        optionalNode(key).flatMap { integer($0, key, range) }
    }

    /// A truth value, `true` or `false` without quotes; `absent` if it is not there or wrong.
    public func bool(_ key: String, absent: Bool) -> Bool {
        guard let value = optionalNode(key) else { return absent }
        switch value.content {
        case .scalar("true", isPlain: true): return true
        case .scalar("false", isPlain: true): return false
        default:
            problems.add("\(key) must be true or false", at: value.position)
            return absent
        }
    }

    /// A required choice out of named values.
    public func choice<Value>(_ key: String, _ choices: [(name: String, value: Value)]) -> Value? {
        text(key).flatMap { pick($0, key, choices) }
    }

    /// An optional choice; nil if absent or wrong.
    public func optionalChoice<Value>(_ key: String, _ choices: [(name: String, value: Value)]) -> Value? {
        optionalText(key).flatMap { pick($0, key, choices) }
    }

    /// A required inner mapping.
    public func mapping(_ key: String) -> YAMLMapping? {
        node(key).flatMap { YAMLMapping($0, problems) }
    }

    /// An optional inner mapping.
    public func optionalMapping(_ key: String) -> YAMLMapping? {
        optionalNode(key).flatMap { YAMLMapping($0, problems) }
    }

    /// The items of a required list, at least one.
    public func items(_ key: String) -> [YAMLNode] {
        guard let value = node(key) else { return [] }
        let items = list(value, key)
        if items?.isEmpty == true { problems.add("\(key) must have at least one item", at: value.position) }
        return items ?? []
    }

    /// The items of an optional list; none if absent.
    public func optionalItems(_ key: String) -> [YAMLNode] {
        optionalNode(key).flatMap { list($0, key) } ?? []
    }

    /// The texts of a required list that satisfy a rule, each once.
    public func texts(_ key: String, _ rule: String, _ isValid: (String) -> Bool) -> [Text] {
        uniqueTexts(items(key), key, rule, isValid)
    }

    /// The texts of an optional list that satisfy a rule, each once.
    public func optionalTexts(_ key: String, _ rule: String, _ isValid: (String) -> Bool) -> [Text] {
        uniqueTexts(optionalItems(key), key, rule, isValid)
    }

    private func uniqueTexts(
        _ nodes: [YAMLNode], _ key: String, _ rule: String, _ isValid: (String) -> Bool
    ) -> [Text] {
        var seen: Set<String> = []
        return nodes.compactMap { node in
            guard let text = scalar(node, key).flatMap({ checked($0, key, rule, isValid) }) else { return nil }
            guard seen.insert(text.text).inserted else {
                problems.add("\(key) lists \(text.text) twice", at: text.position)
                return nil
            }
            return text
        }
    }

    private func scalar(_ node: YAMLNode, _ key: String) -> Text? {
        guard case .scalar(let text, _) = node.content, !node.isNull else {
            problems.add("\(key) must be a text", at: node.position)
            return nil
        }
        return Text(text: text, position: node.position)
    }

    private func checked(_ text: Text, _ key: String, _ rule: String, _ isValid: (String) -> Bool) -> Text? {
        if isValid(text.text) { return text }
        problems.add("\(key) must be \(rule)", at: text.position)
        return nil
    }

    private func integer(_ node: YAMLNode, _ key: String, _ range: ClosedRange<Int64>) -> Int64? {
        // The detour over text refuses what Int64 would tolerate: +1, 007, -0.
        guard case .scalar(let text, isPlain: true) = node.content, let value = Int64(text), String(value) == text
        else {
            problems.add("\(key) must be a whole number", at: node.position)
            return nil
        }
        guard range.contains(value) else {
            problems.add("\(key) must be between \(range.lowerBound) and \(range.upperBound)", at: node.position)
            return nil
        }
        return value
    }

    private func pick<Value>(_ text: Text, _ key: String, _ choices: [(name: String, value: Value)]) -> Value? {
        if let found = choices.first(where: { $0.name == text.text }) { return found.value }
        let names = choices.map(\.name).joined(separator: ", ")
        problems.add("\(key) must be one of: \(names)", at: text.position)
        return nil
    }

    private func list(_ node: YAMLNode, _ key: String) -> [YAMLNode]? {
        guard case .sequence(let items) = node.content else {
            problems.add("\(key) must be a list", at: node.position)
            return nil
        }
        return items
    }
}
