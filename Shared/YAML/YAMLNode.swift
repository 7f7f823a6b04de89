/// Where something stands in a file, counted from 1 as editors do.
public struct YAMLPosition: Sendable, Hashable {
    /// The file as the reader named it.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column in characters, from 1.
    public var column: Int

    /// A position.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// A value of a YAML file with its place. Scalars stay text: what a text means is decided by whoever asks for it, so
/// that `no` is a country and `10001` is a user id where they are wanted as such.
public struct YAMLNode: Sendable {
    /// What a node is.
    public enum Content: Sendable {
        /// A text; `isPlain` if it was written without quotes.
        case scalar(String, isPlain: Bool)
        /// Items in order.
        case sequence([YAMLNode])
        /// Entries in order, keys unique.
        case mapping([Entry])
    }

    /// A key and its value.
    public struct Entry: Sendable {
        /// The key's text.
        public let key: String
        /// Where the key stands.
        public let position: YAMLPosition
        /// The value.
        public let value: YAMLNode
    }

    /// What it is.
    public let content: Content
    /// Where it starts.
    public let position: YAMLPosition

    /// Whether nothing was written, or `~` or `null` without quotes.
    public var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }
}
