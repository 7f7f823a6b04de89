/// Why a report cannot be read. A report is read as a whole or not at all.
public struct SalesReportProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong, stable.
    public enum Code: String, Sendable {
        /// The file is compressed and cannot be unpacked.
        case damagedArchive = "sales_report.damaged_archive"
        /// More bytes or lines than are read.
        case tooLarge = "sales_report.too_large"
        /// Not UTF-8.
        case notText = "sales_report.not_text"
        /// There is no heading, or it lacks columns.
        case missingColumns = "sales_report.missing_columns"
        /// A column is there twice.
        case repeatedColumn = "sales_report.repeated_column"
        /// Lines with mistakes.
        case badLines = "sales_report.bad_lines"
    }

    /// A mistake in a line.
    public struct Mistake: Equatable, Sendable {
        /// Counted from 1, the heading included.
        public let line: Int
        /// The column's heading; nil if it is about the whole line.
        public let column: String?
        /// What was expected.
        public let expected: String
    }

    /// What is wrong.
    public let code: Code
    /// The columns that are missing or repeated.
    public let columns: [String]
    /// The first mistakes, at most ``mistakeLimit``.
    public let mistakes: [Mistake]

    /// Mistakes named at most: whoever mends twenty of them looks again.
    public static let mistakeLimit = 20

    init(_ code: Code, columns: [String] = [], mistakes: [Mistake] = []) {
        self.code = code
        self.columns = columns
        self.mistakes = mistakes
    }

    /// For people: what to do, and where. Values of the file are not repeated.
    public var description: String {
        switch code {
        case .damagedArchive: "the file is gzip and damaged: download it again"
        case .tooLarge: "the report is larger than \(SalesReport.byteLimit >> 20) MiB: import it in parts"
        case .notText: "the report is not UTF-8 text: download it again as it is"
        case .missingColumns: "no sales report, summary: it lacks the columns \(columns.joined(separator: ", "))"
        case .repeatedColumn: "these columns are there twice: \(columns.joined(separator: ", "))"
        case .badLines:
            mistakes.map { mistake in
                "line \(mistake.line)\(mistake.column.map { ", \($0)" } ?? ""): expected \(mistake.expected)"
            }.joined(separator: "\n")
        }
    }
}
