/// Lines for people and for `awk`: a header, columns two blanks apart in an order that never changes, `-` for nothing.
enum TextTable {
    /// The lines; the last column is not filled up.
    static func lines(_ header: [String], _ rows: [[String?]]) -> [String] {
        let cells = [header] + rows.map { $0.map { $0.map(printable) ?? "-" } }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                if column < row.count - 1 { line += String(repeating: " ", count: widths[column] - cell.count + 2) }
            }
            return line
        }
    }

    /// A text without what would move the cursor or break a line: others wrote it.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
                    default: scalar
                    }
                }))
    }
}
