/// An amount of money as a report writes it, exactly: millionths of the currency's unit.
public struct ReportAmount: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Millionths of the unit; negative for refunds.
    public let millionths: Int64

    /// An amount of so many millionths.
    public init(millionths: Int64) { self.millionths = millionths }

    /// The amount of a decimal number such as `0.70`, `-1.19` or `12`: a point, at most six digits after it, no grouping.
    /// Nil if it is none, or more than 64 bits of millionths.
    public init?(_ text: some StringProtocol) {
        var bytes = Array(text.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes.removeFirst() }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let whole = Digits.value(first) else { return nil }
        var fraction: Int64 = 0
        if parts.count == 2 {
            guard parts[1].count <= 6, let digits = Digits.value(parts[1]) else { return nil }
            fraction = (parts[1].count..<6).reduce(digits) { value, _ in value * 10 }
        }
        let (product, overflow) = whole.multipliedReportingOverflow(by: 1_000_000)
        let (sum, carry) = product.addingReportingOverflow(fraction)
        guard !overflow, !carry else { return nil }
        millionths = isNegative ? -sum : sum
    }

    /// The number without needless zeros: `0.7`, `-1.19`, `12`.
    public var description: String {
        let (whole, fraction) = millionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        let sign = millionths < 0 ? "-" : ""
        guard fraction != 0 else { return "\(sign)\(whole)" }
        // A leading one keeps the zeros of the fraction.
        var digits = String(1_000_000 + fraction).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(sign)\(whole).\(digits)"
    }

    /// Smaller amounts first.
    public static func < (left: ReportAmount, right: ReportAmount) -> Bool { left.millionths < right.millionths }
}
