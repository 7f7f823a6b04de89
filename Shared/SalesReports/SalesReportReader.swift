/// Reads the lines of a report: tab-separated, one heading, columns found by name and in any order.
struct SalesReportReader {
    private static let tab = UInt8(ascii: "\t")
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// The columns that are used, by Apple's headings.
    private enum Column: String, CaseIterable {
        case sku = "SKU"
        case productType = "Product Type Identifier"
        case units = "Units"
        case begin = "Begin Date"
        case end = "End Date"
        case country = "Country Code"
        case parent = "Parent Identifier"
        case appleID = "Apple Identifier"
        case proceeds = "Developer Proceeds"
        case proceedsCurrency = "Currency of Proceeds"
        case customerPrice = "Customer Price"
        case customerCurrency = "Customer Currency"

        /// Without these nothing can be compared.
        var isNeeded: Bool {
            switch self {
            case .sku, .productType, .units, .begin, .end, .country, .parent: true
            case .appleID, .proceeds, .proceedsCurrency, .customerPrice, .customerCurrency: false
            }
        }
    }

    private let places: [Column: Int]
    private let width: Int
    private var mistakes: [SalesReportProblem.Mistake] = []

    /// All rows of a report.
    static func read(_ bytes: [UInt8]) throws(SalesReportProblem) -> [SalesReport.Row] {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw SalesReportProblem(.notText) }
        var lines = bytes.split(separator: newline, omittingEmptySubsequences: false)[...]
        // Some editors put a byte order mark before the first heading.
        if let first = lines.first, first.starts(with: [0xEF, 0xBB, 0xBF]) {
            lines[lines.startIndex] = first.dropFirst(3)
        }
        guard let heading = lines.popFirst() else {
            throw SalesReportProblem(.missingColumns, columns: Column.allCases.filter(\.isNeeded).map(\.rawValue))
        }
        var reader = try SalesReportReader(heading: heading)
        var rows: [SalesReport.Row] = []
        for (place, line) in lines.enumerated() where !Self.fields(line).allSatisfy(\.isEmpty) {
            if let row = reader.row(Self.fields(line), line: place + 2) { rows.append(row) }
            guard reader.mistakes.count < SalesReportProblem.mistakeLimit else { break }
        }
        guard reader.mistakes.isEmpty else { throw SalesReportProblem(.badLines, mistakes: reader.mistakes) }
        return rows
    }

    private init(heading: ArraySlice<UInt8>) throws(SalesReportProblem) {
        let names = Self.fields(heading).map { $0.lowercased() }
        var places: [Column: Int] = [:]
        var repeated: [String] = []
        for column in Column.allCases {
            let found = names.indices.filter { names[$0] == column.rawValue.lowercased() }
            places[column] = found.first
            if found.count > 1 { repeated.append(column.rawValue) }
        }
        guard repeated.isEmpty else { throw SalesReportProblem(.repeatedColumn, columns: repeated) }
        let missing = Column.allCases.filter { $0.isNeeded && places[$0] == nil }
        guard missing.isEmpty else {
            throw SalesReportProblem(.missingColumns, columns: missing.map(\.rawValue))
        }
        self.places = places
        width = names.count
    }

    /// The fields of a line without the spaces around them.
    private static func fields(_ line: ArraySlice<UInt8>) -> [Substring] {
        let line = line.last == carriageReturn ? line.dropLast() : line
        return line.split(separator: tab, omittingEmptySubsequences: false).map { field in
            let text = String(decoding: field, as: UTF8.self)[...]
            let start = text.firstIndex { $0 != " " } ?? text.endIndex
            let end = text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? start
            return text[start..<end]
        }
    }

    private mutating func row(_ fields: [Substring], line: Int) -> SalesReport.Row? {
        guard fields.count == width else {
            mistakes.append(.init(line: line, column: nil, expected: "\(width) columns, as in the heading"))
            return nil
        }
        let sku = needed(.sku, fields, line, "a product") { $0.isEmpty ? nil : String($0) }
        let type = needed(.productType, fields, line, "a product type") { $0.isEmpty ? nil : String($0) }
        let units = needed(.units, fields, line, "a whole number") { Self.units($0) }
        let begin = needed(.begin, fields, line, "a day, MM/DD/YYYY") { CalendarDay($0) }
        let end = needed(.end, fields, line, "a day, MM/DD/YYYY") { CalendarDay($0) }
        let country = needed(.country, fields, line, "two capital letters") { Self.letters($0, count: 2) }
        let proceeds = optional(.proceeds, fields, line, "an amount, such as 0.70") { ReportAmount($0) }
        let price = optional(.customerPrice, fields, line, "an amount, such as 0.99") { ReportAmount($0) }
        let proceedsCurrency = optional(.proceedsCurrency, fields, line, "three capital letters") {
            Self.letters($0, count: 3)
        }
        let customerCurrency = optional(.customerCurrency, fields, line, "three capital letters") {
            Self.letters($0, count: 3)
        }
        guard let sku, let type, let units, let begin, let end, let country else { return nil }
        guard begin <= end else {
            mistakes.append(.init(line: line, column: Column.end.rawValue, expected: "no day before the first"))
            return nil
        }
        return SalesReport.Row(
            line: line, sku: sku, productType: type, units: units, begin: begin, end: end, country: country,
            parent: text(.parent, fields) ?? "", appleID: text(.appleID, fields), proceeds: proceeds,
            proceedsCurrency: proceedsCurrency, customerPrice: price, customerCurrency: customerCurrency)
    }

    private func text(_ column: Column, _ fields: [Substring]) -> String? {
        guard let place = places[column], !fields[place].isEmpty else { return nil }
        return String(fields[place])
    }

    private mutating func needed<Value>(
        _ column: Column, _ fields: [Substring], _ line: Int, _ expected: String, _ read: (Substring) -> Value?
    ) -> Value? {
        if let place = places[column], let value = read(fields[place]) { return value }
        mistakes.append(.init(line: line, column: column.rawValue, expected: expected))
        return nil
    }

    /// Nil where the report has nothing; a mistake where it has something else.
    private mutating func optional<Value>(
        _ column: Column, _ fields: [Substring], _ line: Int, _ expected: String, _ read: (Substring) -> Value?
    ) -> Value? {
        guard let place = places[column], !fields[place].isEmpty else { return nil }
        return needed(column, fields, line, expected, read)
    }

    /// `3`, `-1`; some reports write whole numbers as `3.00`.
    private static func units(_ text: Substring) -> Int64? {
        guard let amount = ReportAmount(text), amount.millionths % 1_000_000 == 0 else { return nil }
        return amount.millionths / 1_000_000
    }

    private static func letters(_ text: Substring, count: Int) -> String? {
        let isRight =
            text.utf8.count == count && text.utf8.allSatisfy { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
        return isRight ? String(text) : nil
    }
}
