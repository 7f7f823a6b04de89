/// The rows a statement gave, copied out of libpq's memory: a plain value that may cross threads.
public struct Rows: Sendable, RandomAccessCollection {
    /// A column's name and type.
    struct Column: Sendable {
        let name: String
        let type: UInt32
    }

    /// Shared by all rows of a result, so that a row is two words.
    final class Storage: Sendable {
        let columns: [Column]
        /// Row by row; the end of a value is the beginning of the next one. Negative: NULL, at its complement.
        let starts: [Int]
        let bytes: [UInt8]

        init(columns: [Column], starts: [Int], bytes: [UInt8]) {
            self.columns = columns
            self.starts = starts
            self.bytes = bytes
        }

        /// The value in a row and column; `nil` is NULL.
        func value(row: Int, column: Int) -> ArraySlice<UInt8>? {
            let index = row * columns.count + column
            guard starts[index] >= 0 else { return nil }
            let next = starts[index + 1]
            return bytes[starts[index]..<(next >= 0 ? next : ~next)]
        }
    }

    private let storage: Storage

    /// What the server says it did, for example `INSERT 0 3`.
    public let commandTag: String

    /// How many rows were inserted, updated, deleted or selected.
    public let affectedCount: Int

    /// The number of rows.
    public let count: Int

    init(columns: [Column], starts: [Int], bytes: [UInt8], count: Int, commandTag: String, affectedCount: Int) {
        storage = Storage(columns: columns, starts: starts, bytes: bytes)
        self.count = count
        self.commandTag = commandTag
        self.affectedCount = affectedCount
    }

    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of rows.
    public var endIndex: Int { count }

    /// One row, counted from 0.
    public subscript(position: Int) -> Row {
        precondition(position >= 0 && position < count, "row out of range")
        return Row(storage: storage, index: position)
    }

    /// The only row of a statement that always gives one.
    /// - Throws: `unexpectedRowCount`.
    public func single() throws(PostgresError) -> Row {
        guard count == 1 else { throw .unexpectedRowCount(count) }
        return self[0]
    }
}
