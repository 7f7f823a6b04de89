import Observability
import Postgres

/// `purser report`: a page about a day, as the daily run has stored it or as the books are now. Reads only, as role `purser_auditor`.
struct ReportCommand {
    let output: (String) -> Void
    let environment: [String: String]

    /// Exit code: 0 done, 1 unreachable, 2 wrong usage or settings. Blocks.
    func run(arguments: [String]) -> Int32 {
        let options: ReportOptions
        do throws(WordProblem) {
            options = try ReportOptions(arguments)
        } catch {
            output("purser report: \(error.text)")
            output(ReportOptions.usage)
            return 2
        }
        return ReadingDesk.with(environment, for: "report", output) { connection in
            guard options.isLive else { return try StoredReport.show(options, output, &connection) }
            let app = options.app.map { ", app \(Self.cell($0))" } ?? ""
            output("# Purser, \(options.date) (UTC\(options.offset))\(app)")
            for section in ReportSections.sections(of: options) {
                let rows = try connection.query(section.sql, section.values)
                output("")
                output("## \(section.title)")
                output("")
                guard !rows.isEmpty else {
                    output(section.empty)
                    continue
                }
                output("| " + section.columns.joined(separator: " | ") + " |")
                output("|" + String(repeating: "---|", count: section.columns.count))
                for row in rows {
                    let cells = try row.textArray("cells").map { Self.cell($0 ?? "") }
                    output("| " + cells.joined(separator: " | ") + " |")
                }
            }
            return 0
        }
    }

    /// A text that ends no cell and no line: others wrote it.
    static func cell(_ text: String) -> String {
        TextTable.printable(text).replacing("\\", with: "\\\\").replacing("|", with: "\\|").replacing("<", with: "&lt;")
    }
}
