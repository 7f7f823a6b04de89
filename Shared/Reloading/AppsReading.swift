import Apps

/// What the apps' files said at one time.
public struct AppsReading<Value: Sendable>: Sendable {
    /// What was made of them; nil if there are problems.
    public var value: Value?
    /// How many apps there are.
    public var count: Int
    /// What is wrong, a line each with file and line.
    public var problems: [String]
    /// The other files they name and that were read with them, as far as that is known.
    public var files: [String]
    /// What a change is recognised by.
    public var stamp: [String]

    /// Composes a reading.
    public init(value: Value?, count: Int, problems: [String], files: [String], stamp: [String]) {
        self.value = value
        self.count = count
        self.problems = problems
        self.files = files
        self.stamp = stamp
    }
}
