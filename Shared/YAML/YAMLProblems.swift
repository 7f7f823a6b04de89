/// One mistake in a file and where to find it.
public struct YAMLProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where the mistake is.
    public let position: YAMLPosition
    /// What is wrong and what is expected, for people.
    public let message: String

    /// A mistake.
    public init(_ message: String, at position: YAMLPosition) {
        self.message = message
        self.position = position
    }

    /// `file:line:column: message`, which editors and terminals can jump to.
    public var description: String {
        "\(position.file):\(position.line):\(position.column): \(message)"
    }
}

/// Collects every mistake, so that somebody who edits a file learns all of them at once. For one thread.
public final class YAMLProblems {
    /// A set, because a large file can be one mistake a line: looking through a list for each takes minutes then.
    private var found: Set<YAMLProblem> = []

    /// Without problems.
    public init() {}

    /// The problems, sorted by file and place.
    public var all: [YAMLProblem] {
        found.sorted {
            ($0.position.file, $0.position.line, $0.position.column, $0.message)
                < ($1.position.file, $1.position.line, $1.position.column, $1.message)
        }
    }

    /// Whether there are none.
    public var isEmpty: Bool { found.isEmpty }

    /// Adds a problem; the same one at the same place is kept once.
    public func add(_ message: String, at position: YAMLPosition) {
        found.insert(YAMLProblem(message, at: position))
    }
}
