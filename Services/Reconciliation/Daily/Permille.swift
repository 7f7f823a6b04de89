/// Shares as people read them.
enum Permille {
    /// `98.5 % (197 of 200)`; without a whole a dash. Rounded down, so that 100 % is all of it.
    static func text(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "–" }
        let (thousandths, overflows) = part.multipliedReportingOverflow(by: 1_000)
        guard !overflows else { return "\(part) of \(whole)" }
        let value = thousandths / whole
        return "\(value / 10).\(value % 10) % (\(part) of \(whole))"
    }
}
