/// A number that is no `Int64`: a fraction, an exponent, a negative zero, or an integer beyond 64 bits.
///
/// It keeps its text: money and identifiers never pass through binary floating point unless somebody asks for it.
public struct JSONNumber: Sendable, Equatable {
    /// The number exactly as it was written; it follows the grammar of RFC 8259 §6.
    public let text: String

    /// The nearest binary floating point number, or nil if it is too large (`1e400`).
    public var doubleValue: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// A finite number in its shortest exact notation; nil for infinities and not-a-number, which JSON cannot write.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        text = "\(value)"
    }

    init(validated text: String) {
        self.text = text
    }
}
