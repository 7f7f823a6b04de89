/// A JSON value as RFC 8259 knows it, with integers told apart from other numbers.
///
/// An integer is a number written without fraction and exponent that fits `Int64`; every other number stays the text
/// it was written as, so that nothing is rounded behind the reader's back.
public enum JSONValue: Sendable, Equatable {
    /// The literal `null`.
    case null
    /// The literals `true` and `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number, as written: `1.0`, `1e2`, `-0`, `9223372036854775808`.
    case number(JSONNumber)
    /// Text: valid Unicode without NUL when it comes from `JSONReader`.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Members in the order they were written.
    case object(JSONObject)

    /// The integer, or nil for everything else: `1.0` and `1e2` are no integers here, nor is `-0`.
    public var intValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The text of a string, or nil for everything else.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The truth value, or nil for everything else.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of an array, or nil for everything else.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The object, or nil for everything else.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// Whether this is the literal `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of two equal keys the later value stays.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object.set(key, value) }
        self = .object(object)
    }
}
