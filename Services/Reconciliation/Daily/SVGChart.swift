/// A chart as inline SVG: bars, one above the other where there are several series. Readable on light and dark, for a
/// screen reader its title and its largest value.
enum SVGChart {
    /// As wide as a phone, so that its letters are as large there as the page's; a wider page draws it larger.
    private static let (width, height, left, bottom, top) = (400, 180, 38, 24, 8)
    /// Colours with enough contrast on white and on black, told apart by people who see no red; kinds of findings are
    /// more, then they repeat.
    private static let colours = [
        "#3b82f6", "#f59e0b", "#14b8a6", "#a855f7", "#ef4444", "#84cc16", "#ec4899", "#64748b",
    ]

    /// The chart; a word where there is nothing to draw.
    static func render(_ chart: DayReport.Chart) -> String {
        let sums = chart.labels.indices.map { place in chart.series.reduce(0.0) { $0 + Double($1.values[place]) } }
        guard let most = sums.max(), most > 0 else { return "<p class=\"quiet\">None.</p>" }
        let scale = scale(most)
        let plot = Double(height - bottom - top)
        let step = Double(width - left) / Double(max(sums.count, 1))
        var parts = [
            """
            <svg viewBox="0 0 \(width) \(height)" role="img" aria-label="\(HTMLPage.text(chart.title)): at most \
            \(number(most)) \(HTMLPage.text(chart.unit))" font-size="12" fill="currentColor">
            """
        ]
        for part in 0...2 {
            let y = Double(top) + plot * Double(2 - part) / 2
            parts.append(
                """
                <line x1="\(left)" x2="\(width)" y1="\(digits(y))" y2="\(digits(y))" stroke="currentColor" opacity=".2"/>\
                <text x="\(left - 6)" y="\(digits(y + 4))" text-anchor="end">\(number(scale * Double(part) / 2))</text>
                """)
        }
        for place in chart.labels.indices {
            var y = Double(height - bottom)
            let x = Double(left) + step * Double(place)
            for (index, series) in chart.series.enumerated() where series.values[place] > 0 {
                let size = plot * Double(series.values[place]) / scale
                y -= size
                parts.append(
                    """
                    <rect x="\(digits(x + step * 0.1))" y="\(digits(y))" width="\(digits(step * 0.8))" \
                    height="\(digits(size))" fill="\(colours[index % colours.count])"><title>\
                    \(HTMLPage.text(chart.labels[place])): \(series.values[place]) \
                    \(HTMLPage.text(chart.series.count > 1 ? series.name : chart.unit))</title></rect>
                    """)
            }
            // Every label would be too many.
            if place.isMultiple(of: max(1, (chart.labels.count + 6) / 7)) {
                parts.append(
                    """
                    <text x="\(digits(x + step / 2))" y="\(height - 8)" text-anchor="middle">\
                    \(HTMLPage.text(chart.labels[place]))</text>
                    """)
            }
        }
        parts.append("</svg>")
        return parts.joined(separator: "\n") + legend(chart)
    }

    /// Names of series, where there are several, or one that the title does not name.
    private static func legend(_ chart: DayReport.Chart) -> String {
        guard chart.series.count > 1 || chart.series.first?.name != chart.title else { return "" }
        let names = chart.series.enumerated().map { index, series in
            let sum = series.values.reduce(0.0) { $0 + Double($1) }
            return """
                <span class="series"><span style="color:\(colours[index % colours.count])">■</span> \
                \(HTMLPage.text(series.name)) \(number(sum))</span>
                """
        }
        return "\n<p class=\"quiet\">\(names.joined(separator: "\n"))</p>"
    }

    /// The next of 1, 2, 4, 10, 20, 40 … at or above: its half is a whole number from 2 on.
    static func scale(_ most: Double) -> Double {
        var power = 1.0
        while power * 10 < most { power *= 10 }
        return power * ([1.0, 2, 4, 10].first { power * $0 >= most } ?? 10)
    }

    /// A tenth of a unit is less than a pixel.
    private static func digits(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// `950`, `1.5k`, `20k`, `3.2M`.
    static func number(_ value: Double) -> String {
        for (size, letter) in [(1_000_000.0, "M"), (1_000.0, "k")] where value >= size {
            let tenths = Int(min(value / size * 10, 1e15).rounded())
            return tenths.isMultiple(of: 10) ? "\(tenths / 10)\(letter)" : "\(tenths / 10).\(tenths % 10)\(letter)"
        }
        return value == value.rounded() ? "\(Int(value))" : digits(value)
    }
}
