/// One line of the bench's table: a number, what it must reach, and how it was found.
struct Measurement: Sendable {
    /// What the number must reach.
    enum Target: Sendable {
        /// More is better.
        case atLeast(Double)
        /// Less is better.
        case atMost(Double)
        /// Printed for whoever reads the table; nothing depends on it.
        case none
    }

    /// What came of it.
    enum Verdict: String, Sendable {
        /// As good as it must be.
        case reached = "ok"
        /// Not as good: the bench ends with 3.
        case missed = "MISSED"
        /// There is no number, for the reason in `how`.
        case notMeasured = "not measured"
        /// There is no target.
        case told = ""
    }

    /// Stable: scripts look for it in the JSON.
    let name: String
    /// Nil when it could not be measured.
    let value: Double?
    /// What it counts, empty for ratios.
    let unit: String
    /// What it must reach.
    let target: Target
    /// How it was measured, or why it was not.
    let how: String

    /// A number.
    init(_ name: String, _ value: Double, _ unit: String = "", _ target: Target = .none, how: String) {
        self.name = name
        self.value = value
        self.unit = unit
        self.target = target
        self.how = how
    }

    /// A number there should have been.
    init(_ name: String, _ target: Target, notMeasured reason: String) {
        self.name = name
        value = nil
        unit = ""
        self.target = target
        how = reason
    }

    /// Whether the target is reached.
    var verdict: Verdict {
        guard let value else { return .notMeasured }
        switch target {
        case .atLeast(let least): return value >= least ? .reached : .missed
        case .atMost(let most): return value <= most ? .reached : .missed
        case .none: return .told
        }
    }

    /// The target as people write it.
    var wanted: String {
        switch target {
        case .atLeast(let least): "≥ \(Decimal.text(least))"
        case .atMost(let most): "≤ \(Decimal.text(most))"
        case .none: ""
        }
    }
}

/// Numbers as people read them.
enum Decimal {
    /// Three digits that matter for small numbers, whole numbers from a hundred on.
    static func text(_ value: Double) -> String {
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
        return text(value, digits: digits)
    }

    /// With so many digits after the point.
    static func text(_ value: Double, digits: Int) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let whole = Int64((abs(value) * scale).rounded())
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let fraction = String(whole % Int64(scale))
        return sign + "\(whole / Int64(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
