/// A value of a log field. A closed set, so that nothing is logged by its reflection: whoever wants to log an object has
/// to name the one property that is fit to be read by an operator.
public enum LogValue: Sendable, Equatable {
    /// Text. Cut after ``Logger/maximumTextBytes`` bytes.
    case string(String)
    /// A whole number.
    case int(Int64)
    /// A fraction. Values that JSON cannot say (NaN, infinity) are written as text.
    case double(Double)
    /// A truth value.
    case bool(Bool)
    /// A time span, written as a number of milliseconds: let the key say so (`"commit.ms"`).
    case duration(Duration)
}

extension LogValue {
    /// A whole number of the platform's width.
    public static func int(_ value: Int) -> LogValue { .int(Int64(value)) }

    /// Text, or nothing at all said as an empty text.
    public static func string(_ value: String?) -> LogValue { .string(value ?? "") }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral
{
    /// A constant text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A constant whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A constant truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A constant fraction.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension Duration {
    /// The span in milliseconds with a fraction, for logs and metrics (not for arithmetic: a `Double` rounds).
    var milliseconds: Double {
        let parts = components
        return Double(parts.seconds) * 1_000 + Double(parts.attoseconds) / 1e15
    }
}
