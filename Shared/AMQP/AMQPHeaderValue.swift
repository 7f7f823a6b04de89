/// A value of a message header or of a declaration's arguments.
///
/// Every integer width of the wire is read as `int64`; kinds not listed here (decimals, floats, timestamps, raw bytes)
/// and texts that are not UTF-8 are skipped when a message is read.
public indirect enum AMQPHeaderValue: Sendable, Equatable {
    /// UTF-8 text.
    case string(String)
    /// A signed number of 64 bits.
    case int64(Int64)
    /// A truth value.
    case bool(Bool)
    /// A nested table.
    case table([String: AMQPHeaderValue])
    /// A nested list.
    case array([AMQPHeaderValue])

    /// The text, if it is one.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The number, if it is one.
    public var int64Value: Int64? { if case .int64(let value) = self { value } else { nil } }
    /// The truth value, if it is one.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The table, if it is one.
    public var tableValue: [String: AMQPHeaderValue]? { if case .table(let value) = self { value } else { nil } }
    /// The list, if it is one.
    public var arrayValue: [AMQPHeaderValue]? { if case .array(let value) = self { value } else { nil } }
}

extension AMQPHeaderValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .int64(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
