import CSV
import Messages
import YAML

/// A record of a CSV file, value by value: what is wrong becomes a problem at its place. For one thread.
struct SheetRow {
    let record: CSVRecord
    let file: String
    let problems: YAMLProblems

    /// The value of a column, as long as the record has it.
    func text(_ column: Int) -> String { column < record.fields.count ? record.fields[column].text : "" }

    /// Where a value stands.
    func position(_ column: Int) -> YAMLPosition {
        guard column < record.fields.count else { return YAMLPosition(file: file, line: record.line, column: 1) }
        let field = record.fields[column]
        return YAMLPosition(file: file, line: field.line, column: field.column)
    }

    /// Adds a problem at a value.
    func problem(_ message: String, at column: Int) { problems.add(message, at: position(column)) }

    /// A value that satisfies a rule.
    func text(_ column: Int, _ name: String, _ rule: NameRule) -> String? {
        let text = text(column)
        guard rule.isValid(text) else {
            problem("\(name) must be \(rule.text)", at: column)
            return nil
        }
        return text
    }

    /// A whole number within a range, in digits.
    func int64(_ column: Int, _ name: String, in range: ClosedRange<Int64>) -> Int64? {
        let text = text(column)
        guard let value = Int64(text), String(value) == text, range.contains(value) else {
            problem("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)", at: column)
            return nil
        }
        return value
    }
}
