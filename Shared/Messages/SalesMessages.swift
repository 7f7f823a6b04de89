/// What Apple counted as sold: a part of a report, handed in by an operator. Idempotent: parts are known by the report's
/// id and their number.
public struct SalesImportRequested: Message {
    /// Units of one product in one storefront.
    public struct Line: Codable, Sendable, Equatable {
        /// Apple's product id.
        public var productID: ProductID
        /// Three letters (ISO 3166-1 alpha-3), as transactions name it.
        public var storefront: String
        /// Sold.
        public var sold: Int64
        /// Given back, a positive number.
        public var refunded: Int64
        /// What Apple keeps of the price, in thousandths of a per cent; nil where price and proceeds do not tell.
        public var commission: Int64?

        /// Composes the line.
        public init(
            productID: ProductID, storefront: String, sold: Int64, refunded: Int64, commission: Int64? = nil
        ) {
            self.productID = productID
            self.storefront = storefront
            self.sold = sold
            self.refunded = refunded
            self.commission = commission
        }
    }

    /// Routing key.
    public static var type: MessageType { .salesImportRequested }
    /// Lines of one message at most: it stays below 128 kB.
    public static let mostLines = 1_000
    /// Parts of a report at most: all products of an app in all storefronts.
    public static let mostParts: Int64 = 1_000
    /// The report (UUID text): the same file has the same one.
    public var reportID: String
    /// Whose sales.
    public var app: AppID
    /// First day of Apple's calendar that is counted, `YYYY-MM-DD`.
    public var begin: String
    /// Last day of it.
    public var end: String
    /// Which part this is, from 1.
    public var part: Int64
    /// How many there are.
    public var parts: Int64
    /// The lines; each product and storefront once in a report.
    public var lines: [Line]
    /// Who handed it in, for the record.
    public var actor: String

    /// Composes the part.
    public init(
        reportID: String, app: AppID, begin: String, end: String, part: Int64, parts: Int64, lines: [Line],
        actor: String
    ) {
        self.reportID = reportID
        self.app = app
        self.begin = begin
        self.end = end
        self.part = part
        self.parts = parts
        self.lines = lines
        self.actor = actor
    }
}

/// What came of a part of a sales report.
public struct SalesImportAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .salesImportAnswered }
    /// Parts of the report that are there now.
    public var parts: Int64
    /// Whether it is whole: only then it is compared.
    public var isComplete: Bool

    /// Composes the answer.
    public init(parts: Int64, isComplete: Bool) {
        self.parts = parts
        self.isComplete = isComplete
    }
}
