/// Builds the text exposition format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
struct PrometheusText {
    private(set) var text = ""

    /// The `HELP` and `TYPE` lines before the samples of a name.
    mutating func header(name: String, help: String, type: String) {
        let escaped = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(name) \(escaped)\n# TYPE \(name) \(type)\n"
    }

    /// One sample; `labels` without braces.
    mutating func sample(_ name: String, _ labels: String, _ value: Double) {
        text += name
        if !labels.isEmpty { text += "{\(labels)}" }
        text += " \(Self.number(value))\n"
    }

    /// The cumulated buckets, sum and count of a histogram.
    mutating func histogram(_ name: String, _ labels: String, _ histogram: Histogram) {
        let snapshot = histogram.snapshot()
        let prefix = labels.isEmpty ? "" : labels + ","
        var total = 0
        for (bound, count) in zip(histogram.bounds + [.infinity], snapshot.counts) {
            total += count
            sample("\(name)_bucket", "\(prefix)le=\"\(Self.number(bound))\"", Double(total))
        }
        sample("\(name)_sum", labels, snapshot.sum)
        sample("\(name)_count", labels, Double(total))
    }

    /// Labels sorted by name, values escaped, without braces: `kind="a",queue="b"`.
    static func labels(_ labels: [String: String]) -> String {
        labels.sorted { $0.key < $1.key }.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
                .replacing("\"", with: "\\\"")
            return "\(name)=\"\(escaped)\""
        }.joined(separator: ",")
    }

    /// Whole numbers without a fraction; infinity and NaN as Prometheus spells them.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return value.description
    }
}
