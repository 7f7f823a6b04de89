import SalesReports
import TestSupport

/// Apple's sales reports: lines of fields between tabs, as they are or in gzip.
struct SalesReportTarget: FuzzTarget {
    let seeds: [[UInt8]]
    let words = [
        "\t", "\n", "\r\n", "\"", "SKU", "Units", "IA1", "-1", "0.7", "1.1234567", "9223372036854775807", "02/29/2027",
        "12/31/2026", "CNY", "\u{FEFF}", "\u{0}", "\u{1F}\u{8B}\u{8}\u{0}",
    ]
    private static let heading =
        "Provider\tProvider Country\tSKU\tDeveloper\tTitle\tVersion\tProduct Type Identifier\tUnits\tDeveloper Proceeds\t"
        + "Begin Date\tEnd Date\tCustomer Currency\tCountry Code\tCurrency of Proceeds\tApple Identifier\t"
        + "Customer Price\tPromo Code\tParent Identifier\n"
    /// gzip of an empty file.
    private static let emptyArchive: [UInt8] = [
        0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    init(_ files: FuzzFiles) {
        let rows = (0..<30).map { number in
            "APPLE\tUS\tcoins_\(number % 4)\tdev\tCoins\t\tIA1\t\(number % 3 + 1)\t0.7\t11/29/2026\t11/29/2026\tCNY\tCN\t"
                + "CNY\t\(1_000 + number)\t1\t\tgame\n"
        }
        seeds =
            [0, 1, 30].map { Array((Self.heading + rows.prefix($0).joined()).utf8) } + [Self.emptyArchive]
            + files.corpus("sales")
    }

    mutating func run(_ input: [UInt8]) throws(Violation) -> Bool {
        guard let report = try? SalesReport(input) else { return false }
        let lines = Set(report.rows.map(\.line))
        try Violation.unless(lines.count == report.rows.count, "two rows have one line")
        try Violation.unless(
            report.rows.allSatisfy { $0.begin <= $0.end && $0.line > 1 && !$0.sku.isEmpty },
            "a row without a product, or that ends before it begins, was read")
        return true
    }
}
