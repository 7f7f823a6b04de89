import Crypto
import Messages
import Pipeline
import SalesReports

/// What a sales report says, as it is handed in: units of each product in each storefront, one report for each span of
/// days in it.
struct SalesSummary: Equatable {
    /// The days that are counted.
    let begin: CalendarDay
    let end: CalendarDay
    /// Sorted by product and storefront.
    let lines: [SalesImportRequested.Line]

    /// All spans of a report. Only purchases inside apps count, and with `parent` only those of the app of that SKU.
    ///
    /// - Throws: the first line whose country nobody knows, or whose units add up to more than 64 bits.
    static func all(of report: SalesReport, parent: String?) throws(WordProblem) -> [SalesSummary] {
        var spans: [Span: [Place: Sums]] = [:]
        for row in report.rows where row.isInAppPurchase && (parent == nil || row.parent == parent) {
            guard let storefront = Storefronts.threeLetters(of: row.country) else {
                throw WordProblem(text: "line \(row.line): no country has the code \(row.country)")
            }
            let (span, place) = (Span(begin: row.begin, end: row.end), Place(row.sku, storefront))
            guard spans[span, default: [:]][place, default: Sums()].add(row) else {
                throw WordProblem(text: "line \(row.line): the units add up to more than can be counted")
            }
        }
        return spans.sorted { ($0.key.begin, $0.key.end) < ($1.key.begin, $1.key.end) }.map { span, sums in
            SalesSummary(
                begin: span.begin, end: span.end,
                lines: sums.map { $0.value.line($0.key) }
                    .sorted { ($0.productID.rawValue, $0.storefront) < ($1.productID.rawValue, $1.storefront) })
        }
    }

    /// The messages that hand it in. The same lines have the same report id, so that handing in twice changes nothing.
    func parts(app: AppID, actor: String) -> [SalesImportRequested] {
        let id = identifier(app)
        let starts = Array(stride(from: 0, to: max(lines.count, 1), by: SalesImportRequested.mostLines))
        return starts.enumerated().map { place, start in
            SalesImportRequested(
                reportID: id, app: app, begin: "\(begin)", end: "\(end)", part: Int64(place + 1),
                parts: Int64(starts.count),
                lines: Array(lines[start..<min(start + SalesImportRequested.mostLines, lines.count)]), actor: actor)
        }
    }

    private func identifier(_ app: AppID) -> String {
        var text = "\(app)\n\(begin)\n\(end)\n"
        for line in lines {
            text += "\(line.productID)\t\(line.storefront)\t\(line.sold)\t\(line.refunded)\t\(line.commission ?? -1)\n"
        }
        var bytes = Array(SHA256.hash(Array(text.utf8)).prefix(16))
        // A UUID of version 8: of its own making (RFC 9562 §5.8).
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        return UUIDText.format(bytes)
    }

    private struct Span: Hashable {
        let begin: CalendarDay
        let end: CalendarDay
    }

    private struct Place: Hashable {
        let product: String
        let storefront: String

        init(_ product: String, _ storefront: String) {
            self.product = product
            self.storefront = storefront
        }
    }

    /// What is added up of a product in a storefront.
    private struct Sums {
        var sold: Int64 = 0
        var refunded: Int64 = 0
        /// Millionths of a currency's unit; nil once they cannot be compared.
        var paid: Int64? = 0
        var kept: Int64? = 0

        /// False if it overflows.
        mutating func add(_ row: SalesReport.Row) -> Bool {
            let isRefund = row.units < 0
            let (sum, overflow) = (isRefund ? refunded : sold).addingReportingOverflow(
                Int64(clamping: row.units.magnitude))
            guard !overflow else { return false }
            if isRefund {
                refunded = sum
            } else {
                sold = sum
                addPrices(row)
            }
            return true
        }

        /// A price in another currency than the proceeds says nothing about what is kept.
        private mutating func addPrices(_ row: SalesReport.Row) {
            guard let price = row.customerPrice, let proceeds = row.proceeds,
                row.customerCurrency == row.proceedsCurrency, row.customerCurrency != nil
            else {
                (paid, kept) = (nil, nil)
                return
            }
            paid = Self.sum(paid, price.millionths, row.units)
            kept = Self.sum(kept, proceeds.millionths, row.units)
        }

        private static func sum(_ sum: Int64?, _ amount: Int64, _ units: Int64) -> Int64? {
            let (product, overflow) = amount.multipliedReportingOverflow(by: units)
            guard let sum, !overflow else { return nil }
            let (total, carry) = sum.addingReportingOverflow(product)
            return carry ? nil : total
        }

        func line(_ place: Place) -> SalesImportRequested.Line {
            SalesImportRequested.Line(
                productID: ProductID(place.product), storefront: place.storefront, sold: sold, refunded: refunded,
                commission: commission)
        }

        /// Thousandths of a per cent of what was paid.
        private var commission: Int64? {
            guard let paid, let kept, paid > 0, kept >= 0, kept <= paid else { return nil }
            return Int64((Double(paid - kept) / Double(paid) * 100_000).rounded())
        }
    }
}
