/// A report as one HTML page: no script, nothing from elsewhere, one column, light and dark. For a phone, a browser and a
/// mail.
enum HTMLPage {
    /// The whole page.
    static func render(_ report: DayReport) -> String {
        let title = "\(text(report.plan.app)), \(report.plan.day)"
        var parts = [
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(style)</style>
            </head>
            <body>
            <main>
            <h1>\(title)</h1>
            <p class="quiet">By the clock of \(text(report.plan.timeZone)); made \(report.madeAt).</p>
            """
        ]
        parts.append("<dl>")
        for figure in report.figures {
            let mark = figure.isAlarming ? " class=\"alarm\"" : ""
            parts.append("<div\(mark)><dt>\(text(figure.name))</dt><dd>\(text(figure.value))</dd></div>")
        }
        parts.append("</dl>")
        parts += report.tables.prefix(1).map(table)
        parts += report.charts.map { "<h2>\(text($0.title))</h2>\n" + SVGChart.render($0) }
        parts += report.tables.dropFirst().map(table)
        parts.append("</main>\n</body>\n</html>\n")
        return parts.joined(separator: "\n")
    }

    /// Wide tables scroll by themselves, so that the page does not.
    private static func table(_ table: DayReport.Table) -> String {
        let title = "<h2>\(text(table.title))</h2>"
        guard !table.rows.isEmpty else { return title + "\n<p class=\"quiet\">\(text(table.empty))</p>" }
        // A column of numbers, where some may be missing.
        let marks = table.columns.indices.map { place in
            let cells = table.rows.compactMap { $0.indices.contains(place) && $0[place] != "–" ? $0[place] : nil }
            return cells.allSatisfy(isNumber) && !cells.isEmpty ? " class=\"number\"" : ""
        }
        let head = zip(table.columns, marks).map { "<th scope=\"col\"\($1)>\(text($0))</th>" }.joined()
        let rows = table.rows.map { row in
            "<tr>" + zip(row, marks).map { "<td\($1)>\(text($0))</td>" }.joined() + "</tr>"
        }
        return title
            + "\n<div class=\"wide\"><table>\n<thead><tr>\(head)</tr></thead>\n<tbody>\n"
            + rows.joined(separator: "\n") + "\n</tbody>\n</table></div>"
    }

    private static func isNumber(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 19
            && text.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 || $0 == 45 }
    }

    /// A text others wrote, as text; control characters become spaces.
    static func text(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar -> String in
                switch scalar {
                case "&": "&amp;"
                case "<": "&lt;"
                case ">": "&gt;"
                case "\"": "&quot;"
                case "'": "&#39;"
                default: scalar.properties.generalCategory == .control ? " " : String(scalar)
                }
            }.joined())
    }

    private static let style = """
        :root{color-scheme:light dark;--text:#1c1c1e;--quiet:#636366;--back:#fff;--line:#d1d1d6;--alarm:#c0262d}
        @media (prefers-color-scheme:dark){:root{--text:#f2f2f7;--quiet:#aeaeb2;--back:#1c1c1e;--line:#48484a;--alarm:#ff6b6b}}
        body{margin:0;background:var(--back);color:var(--text);font:16px/1.45 system-ui,-apple-system,"Segoe UI",sans-serif}
        main{max-width:720px;margin:0 auto;padding:16px}
        h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.1em;margin:1.6em 0 .4em}
        .quiet{color:var(--quiet);margin:.2em 0}
        dl{margin:1em 0}dl div{display:flex;justify-content:space-between;gap:16px;padding:6px 0;border-bottom:1px solid var(--line)}
        dt{color:var(--quiet)}dd{margin:0;text-align:right;font-weight:600;white-space:nowrap}.alarm dd{color:var(--alarm)}
        .wide{overflow-x:auto}table{border-collapse:collapse;font-size:.875em}
        th,td{padding:4px 12px 4px 0;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
        th{color:var(--quiet);font-weight:500}.number{text-align:right;font-variant-numeric:tabular-nums}
        svg{width:100%;max-width:560px;height:auto;display:block}.series{white-space:nowrap;margin-right:1em}
        """
}
