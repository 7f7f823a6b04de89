/// A sales report of App Store Connect, type *Sales*, subtype *Summary*: what Apple counted as sold, by product, country
/// and day of Apple's calendar (Pacific time for most; see *Begin Date* and *End Date*).
///
/// Source: App Store Connect Help, "Sales and Trends reports", Summary Sales Report.
public struct SalesReport: Equatable, Sendable {
    /// One line: units of one product at one price in one country.
    public struct Row: Equatable, Sendable {
        /// Counted from 1, the heading included.
        public var line: Int
        /// The product: of an in-app purchase its product id.
        public var sku: String
        /// Apple's *Product Type Identifier*, such as `IA1`.
        public var productType: String
        /// How many; negative for refunds.
        public var units: Int64
        /// The first day that is counted.
        public var begin: CalendarDay
        /// The last day that is counted.
        public var end: CalendarDay
        /// Two letters (ISO 3166-1): the storefront.
        public var country: String
        /// The SKU of the app an in-app purchase belongs to; empty for the app itself.
        public var parent: String
        /// Apple's id of the product (digits), where the report has it.
        public var appleID: String?
        /// What the developer gets for one unit, in ``proceedsCurrency``.
        public var proceeds: ReportAmount?
        /// ISO 4217.
        public var proceedsCurrency: String?
        /// What the customer paid for one unit, in ``customerCurrency``; negative for refunds.
        public var customerPrice: ReportAmount?
        /// ISO 4217.
        public var customerCurrency: String?

        /// Whether it is a purchase inside an app. Product types of these begin with `IA`; `FI1` is one on the Mac.
        public var isInAppPurchase: Bool { productType.hasPrefix("IA") || productType == "FI1" }
    }

    /// Bytes read at most, unpacked: about half a million lines.
    public static let byteLimit = 64 << 20

    /// The lines in the file's order.
    public var rows: [Row]

    /// Reads a report as it was downloaded, gzip or not.
    ///
    /// - Throws: every mistake at once (up to a limit); nothing of a report with mistakes is used.
    public init(_ file: [UInt8]) throws(SalesReportProblem) {
        let bytes = Gunzip.isCompressed(file) ? try Gunzip.unpack(file, limit: Self.byteLimit) : file
        guard bytes.count <= Self.byteLimit else { throw SalesReportProblem(.tooLarge) }
        rows = try SalesReportReader.read(bytes)
    }
}
