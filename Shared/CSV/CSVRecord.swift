/// A line of values; one with quoted line breaks is several lines of the file.
public struct CSVRecord: Sendable, Equatable {
    /// One value and its place.
    public struct Field: Sendable, Equatable {
        /// The value, without quotes.
        public let text: String
        /// Its line, from 1.
        public let line: Int
        /// Its column in characters, from 1.
        public let column: Int
    }

    /// The line it begins in, from 1.
    public let line: Int
    /// At least one.
    public let fields: [Field]
}

/// A place where a file is no CSV.
public struct CSVProblem: Error, Sendable, Equatable {
    /// Its line, from 1.
    public let line: Int
    /// Its column in characters, from 1.
    public let column: Int
    /// What is wrong and what to do, for people.
    public let message: String
}

/// What was read: the records that are well-formed, and every one that is not.
public struct CSVTable: Sendable, Equatable {
    /// In the order of the file.
    public var records: [CSVRecord] = []
    /// In the order of the file; empty if all of it could be read.
    public var problems: [CSVProblem] = []
}
