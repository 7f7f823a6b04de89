import Crypto
import JSON

/// What the drill measured, and the bounds.
struct ReconcileReport {
    let plan: MonthPlan
    /// Seconds of the run of one day that has a third of the purchases, nothing being wrong.
    var thirdSeconds = 0.0
    /// The same with all of them.
    var cleanSeconds = 0.0
    /// The same with all that was planted.
    var seconds = 0.0
    /// Seconds of the runs of all days of the month.
    var monthSeconds = 0.0
    /// The most memory of the process ever (MB); nil if it could not be read.
    var peak: Double?
    var results: [PlantedDifferences.Result] = []
    var falseFindings = 0

    /// 60 s for 100,000 purchases, in proportion for others; a small run is mostly start-up.
    private var mostSeconds: Double { max(20, 60 * Double(plan.count) / 100_000) }
    private static let mostMemory = 128.0
    /// Three times the purchases must not take more than this.
    private static let mostGrowth = 3.6
    /// Where a third takes less, the growth says nothing (s): asking alone takes one.
    private static let leastMeasurable = 2.0

    /// Time with all ÷ time with a third.
    var growth: Double? { thirdSeconds >= Self.leastMeasurable ? cleanSeconds / thirdSeconds : nil }

    /// Bounds that are not kept.
    var misses: [String] {
        var misses: [String] = []
        if seconds > mostSeconds {
            misses.append("one day took \(Self.text(seconds)) s, more than \(Self.text(mostSeconds)) s")
        }
        if let peak {
            if peak > Self.mostMemory { misses.append("\(Self.text(peak)) MB, more than \(Int(Self.mostMemory)) MB") }
        } else {
            misses.append("the memory could not be read")
        }
        if let growth, growth > Self.mostGrowth {
            misses.append("three times the purchases took \(Self.text(growth)) times as long")
        }
        return misses
    }

    /// One decimal.
    static func text(_ value: Double) -> String { Decimal.text(value, digits: 1) }

    /// Two tables.
    var markdown: String {
        var lines = ["", "| planted | how many | found | findings | repaired | open |", "|---|---|---|---|---|---|"]
        for one in results {
            lines.append(
                "| \(one.kind.rawValue) | \(one.planted) | \(one.found) | \(one.findings) | \(one.repaired) | "
                    + "\(one.open) |")
        }
        lines += [
            "", "False findings: \(falseFindings).", "",
            "| purchases | one day | a third of them | growth | all days of the month | clean | peak memory |",
            "|---|---|---|---|---|---|---|",
            "| \(plan.count) | \(Self.text(seconds)) s | \(Self.text(thirdSeconds)) s | "
                + "\(growth.map { Decimal.text($0, digits: 2) } ?? "–") | \(Self.text(monthSeconds)) s | "
                + "\(Self.text(cleanSeconds)) s | \(peak.map { Self.text($0) } ?? "?") MB |",
            "",
        ]
        return lines.joined(separator: "\n")
    }

    /// For `.local/reconcile.json`.
    var json: JSONObject {
        func milliseconds(_ seconds: Double) -> JSONValue { .integer(Int64(seconds * 1_000)) }
        var kinds = JSONObject()
        for one in results {
            kinds.set(
                one.kind.rawValue,
                .object([
                    "planted": .integer(Int64(one.planted)), "found": .integer(Int64(one.found)),
                    "repaired": .integer(Int64(one.repaired)), "open": .integer(Int64(one.open)),
                ]))
        }
        return [
            "count": .integer(Int64(plan.count)), "seed": .integer(Int64(clamping: plan.seed)),
            "planted": .object(kinds), "falseFindings": .integer(Int64(falseFindings)),
            "dayMilliseconds": milliseconds(seconds), "cleanDayMilliseconds": milliseconds(cleanSeconds),
            "thirdOfDayMilliseconds": milliseconds(thirdSeconds), "monthMilliseconds": milliseconds(monthSeconds),
            "peakMegabytes": peak.map { .integer(Int64($0.rounded())) } ?? .null,
        ]
    }
}
