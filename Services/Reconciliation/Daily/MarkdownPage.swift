/// A report as Markdown: tables, and charts as their numbers.
enum MarkdownPage {
    /// The whole page.
    static func render(_ report: DayReport) -> String {
        var lines = [
            "# \(cell(report.plan.app)), \(report.plan.day)", "",
            "By the clock of \(cell(report.plan.timeZone)); made \(report.madeAt).", "",
        ]
        lines += table(["", ""], report.figures.map { [$0.name, $0.isAlarming ? "**\($0.value)**" : $0.value] })
        for one in report.tables {
            lines += ["", "## \(one.title)", ""]
            lines += one.rows.isEmpty ? [one.empty] : table(one.columns, one.rows.map { $0.map(cell) })
        }
        for chart in report.charts {
            lines += ["", "## \(chart.title)", ""]
            // Of 24 hours or 30 days most are empty as a rule.
            let rows = chart.labels.indices.compactMap { place -> [String]? in
                let values = chart.series.filter { $0.values[place] != 0 }
                guard !values.isEmpty else { return nil }
                let texts = values.map {
                    chart.series.count > 1 ? "\($0.values[place]) \($0.name)" : "\($0.values[place])"
                }
                return [chart.labels[place], cell(texts.joined(separator: ", "))]
            }
            lines += rows.isEmpty ? ["None."] : table(["", chart.unit], rows)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func table(_ columns: [String], _ rows: [[String]]) -> [String] {
        ["| " + columns.joined(separator: " | ") + " |", "|" + String(repeating: "---|", count: columns.count)]
            + rows.map { "| " + $0.joined(separator: " | ") + " |" }
    }

    /// A text that ends no cell, no line and is no markup: others wrote it.
    static func cell(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar -> String in
                switch scalar {
                case "\\", "|", "*", "_", "`", "[", "]", "#": "\\" + String(scalar)
                case "<": "&lt;"
                case "&": "&amp;"
                default: scalar.properties.generalCategory == .control ? " " : String(scalar)
                }
            }.joined())
    }
}
