/// One SQL statement with its values. The text should be a constant: each distinct text is prepared once per connection.
public struct Statement: Sendable, Equatable {
    /// The text, with `$1`, `$2`, … for the values.
    public let sql: String
    /// The values of `$1`, `$2`, … in order.
    public let values: [SQLValue]

    /// Pairs a text with its values.
    public init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        self.values = values
    }
}
