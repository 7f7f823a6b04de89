public import YAML

/// Why apps or their keys cannot be used: every mistake with file and line.
public struct AppsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: String, Sendable, Equatable {
        /// A file, or the folder, has mistakes.
        case invalidConfiguration = "invalid_configuration"
        /// A key file cannot be used.
        case invalidKey = "invalid_key"
    }

    /// What went wrong.
    public let kind: Kind
    /// At least one mistake, sorted by file and place.
    public let problems: [YAMLProblem]

    /// A stable, dotted name.
    public var code: String { "apps.\(kind.rawValue)" }

    /// Always false: somebody has to change a file.
    public var isRetryable: Bool { false }

    /// One mistake a line: `file:line:column: message`.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
