import Testing

@testable import SalesReports

@Suite struct SalesReportTests {
    static let headings = [
        "Provider", "Provider Country", "SKU", "Developer", "Title", "Version", "Product Type Identifier", "Units",
        "Developer Proceeds", "Begin Date", "End Date", "Customer Currency", "Country Code", "Currency of Proceeds",
        "Apple Identifier", "Customer Price", "Promo Code", "Parent Identifier",
    ]
    static let fields = [
        "APPLE", "US", "pyy_danbing_60", "Example", "Sixty", " ", "IA1", "3", "0.70", "05/25/2026", "05/25/2026", "USD",
        "US", "USD", "1234567890", "0.99", " ", "com.example.cloudpc",
    ]

    /// A report of one line, with some of its fields changed.
    static func text(_ changes: [String: String] = [:], without dropped: String? = nil) -> String {
        let kept = headings.indices.filter { headings[$0] != dropped }
        let heading = kept.map { headings[$0] }.joined(separator: "\t")
        let line = kept.map { changes[headings[$0]] ?? fields[$0] }.joined(separator: "\t")
        return heading + "\n" + line + "\n"
    }

    static func read(_ text: String) throws(SalesReportProblem) -> SalesReport { try SalesReport(Array(text.utf8)) }

    static func problem(_ file: [UInt8]) -> SalesReportProblem? {
        do throws(SalesReportProblem) {
            _ = try SalesReport(file)
            return nil
        } catch { return error }
    }

    @Test func `a line of a summary report is read column by column`() throws {
        let row = try #require(try Self.read(Self.text()).rows.first)
        #expect(row.line == 2)
        #expect(row.sku == "pyy_danbing_60")
        #expect(row.productType == "IA1")
        #expect(row.isInAppPurchase)
        #expect(row.units == 3)
        #expect(row.begin.description == "2026-05-25" && row.end == row.begin)
        #expect(row.country == "US")
        #expect(row.parent == "com.example.cloudpc")
        #expect(row.appleID == "1234567890")
        #expect(row.proceeds == ReportAmount(millionths: 700_000) && row.proceedsCurrency == "USD")
        #expect(row.customerPrice?.description == "0.99" && row.customerCurrency == "USD")
    }

    @Test func `columns are found by name, whatever their order, case and neighbours`() throws {
        let text =
            "end date\tNew Column\tUNITS\tsku\tBegin Date\tParent Identifier\tCountry Code\tProduct Type Identifier\r\n"
            + "05/26/2026\tx\t-2.00\tgold\t05/25/2026\t\tDE\tIAY\r\n\r\n"
        let row = try #require(try Self.read("\u{FEFF}" + text).rows.first)
        #expect(row.units == -2 && row.sku == "gold" && row.country == "DE" && row.parent.isEmpty)
        #expect(row.proceeds == nil && row.appleID == nil)
    }

    @Test func `the app's own downloads are no purchases inside it`() throws {
        for (type, isInside) in [
            ("1F", false), ("7", false), ("IA9", true), ("IAY", true), ("FI1", true), ("F1", false),
        ] {
            let row = try #require(try Self.read(Self.text(["Product Type Identifier": type])).rows.first)
            #expect(row.isInAppPurchase == isInside, "\(type)")
        }
    }

    @Test(
        arguments: SalesReportTests.headings.filter {
            ["SKU", "Product Type Identifier", "Units", "Begin Date", "End Date", "Country Code", "Parent Identifier"]
                .contains($0)
        })
    func `a report without a column that is needed is none`(column: String) {
        let problem = Self.problem(Array(Self.text(without: column).utf8))
        #expect(problem?.code == .missingColumns)
        #expect(problem?.columns == [column])
    }

    @Test(arguments: [
        ("Units", "3.5"), ("Units", "many"), ("Units", ""), ("Units", "99999999999999999999"),
        ("Begin Date", "25/05/2026"),
        ("Begin Date", "05/26/2026"), ("End Date", "02/29/2026"), ("Country Code", "usa"), ("Customer Price", "1,99"),
        ("Developer Proceeds", "--1"), ("Customer Currency", "dollar"), ("SKU", " "), ("Product Type Identifier", ""),
    ])
    func `a field that is wrong is named with its line and column`(column: String, value: String) {
        let problem = Self.problem(Array(Self.text([column: value]).utf8))
        #expect(problem?.code == .badLines)
        let place = column == "Begin Date" && value == "05/26/2026" ? "End Date" : column
        #expect(problem?.mistakes.map(\.column) == [place])
        #expect(problem?.mistakes.map(\.line) == [2])
        #expect(problem.map { !"\($0)".contains(value) || value.trimming.isEmpty } == true)
    }

    @Test func `all mistakes are told at once, up to a limit, and nothing is read`() {
        let lines = Self.text().split(separator: "\n")
        let bad = Self.text(["Units": "x", "Country Code": "?"]).split(separator: "\n")[1]
        let few = Self.problem(Array("\(lines[0])\n\(lines[1])\n\(bad)\n\(bad)\tmore\n".utf8))
        #expect(few?.mistakes.map(\.line) == [3, 3, 4])
        #expect(few?.mistakes.last?.column == nil)
        let many = Self.problem(
            Array((["\(lines[0])"] + Array(repeating: "\(bad)", count: 100)).joined(separator: "\n").utf8))
        #expect(many?.mistakes.count == SalesReportProblem.mistakeLimit)
    }

    @Test func `what is no text, has no heading, or a heading twice is refused`() {
        #expect(Self.problem([0xFF, 0xFE, 0x00])?.code == .notText)
        #expect(Self.problem([])?.code == .missingColumns)
        #expect(Self.problem(Array("<html></html>".utf8))?.code == .missingColumns)
        let twice = Self.text().replacing("Provider Country", with: "Units")
        #expect(Self.problem(Array(twice.utf8))?.code == .repeatedColumn)
    }
}

extension String {
    fileprivate var trimming: String { filter { $0 != " " } }
}
