import AppStore

/// What a receipt of the simulated App Store says. Dates are milliseconds since 1970.
public struct SimulatedReceipt: Sendable {
    /// One purchase in it.
    public struct Purchase: Sendable {
        /// Unique per purchase.
        public var transactionID: String
        /// Shared by all restores.
        public var originalTransactionID: String
        /// What was bought.
        public var productID: String
        /// Units.
        public var quantity: Int64
        /// When it was bought.
        public var purchaseDate: Int64
        /// Subscriptions: end of the period.
        public var expiresDate: Int64?
        /// Set when it was refunded.
        public var cancellationDate: Int64?
        /// Further or other attributes: number, and the value's element. They replace those of the same number.
        public var overrides: [(number: Int64, value: [UInt8])] = []

        /// A purchase of one unit.
        public init(
            transactionID: String, productID: String, purchaseDate: Int64, originalTransactionID: String? = nil,
            quantity: Int64 = 1, expiresDate: Int64? = nil, cancellationDate: Int64? = nil
        ) {
            self.transactionID = transactionID
            self.originalTransactionID = originalTransactionID ?? transactionID
            self.productID = productID
            self.quantity = quantity
            self.purchaseDate = purchaseDate
            self.expiresDate = expiresDate
            self.cancellationDate = cancellationDate
        }
    }

    /// Apple's text, such as `ProductionSandbox`.
    public var receiptType: String
    /// For which app.
    public var bundleID: String
    /// The app's number; the sandbox writes 0.
    public var appItemID: Int64 = 0
    /// When it was made.
    public var creationDate: Int64
    /// What is in it.
    public var purchases: [Purchase]
    /// Further or other attributes: number, and the value's element. They replace those of the same number.
    public var overrides: [(number: Int64, value: [UInt8])] = []

    /// A receipt of the sandbox.
    public init(
        bundleID: String, creationDate: Int64, purchases: [Purchase] = [], receiptType: String = "ProductionSandbox"
    ) {
        self.receiptType = receiptType
        self.bundleID = bundleID
        self.creationDate = creationDate
        self.purchases = purchases
    }

    /// The attributes as they are signed.
    public var content: [UInt8] {
        var attributes: [(number: Int64, value: [UInt8])] = [
            (0, DER.utf8(receiptType)), (1, DER.integer(appItemID)), (2, DER.utf8(bundleID)), (3, DER.utf8("1")),
            (4, Array(0..<16)), (5, [UInt8](repeating: 0xA5, count: 20)), (8, DER.ia5(Self.date(creationDate))),
            (12, DER.ia5(Self.date(creationDate))), (15, DER.integer(0)), (16, DER.integer(0)),
            (18, DER.ia5(Self.date(1_375_340_400_000))), (19, DER.utf8("1.0")),
        ]
        attributes += purchases.map { (17, $0.content) }
        return Self.set(attributes, overrides)
    }

    static func date(_ milliseconds: Int64) -> String { UTCTime.text(milliseconds / 1_000) }

    static func set(
        _ attributes: [(number: Int64, value: [UInt8])], _ overrides: [(number: Int64, value: [UInt8])]
    ) -> [UInt8] {
        let replaced = Set(overrides.map(\.number))
        let all = attributes.filter { !replaced.contains($0.number) } + overrides
        let content = all.flatMap { number, value in
            DER.sequence(DER.integer(number), DER.integer(1), DER.octets(value))
        }
        return DER.element(0x31, content)
    }
}

extension SimulatedReceipt.Purchase {
    /// The attributes as they are signed.
    var content: [UInt8] {
        var attributes: [(number: Int64, value: [UInt8])] = [
            (1701, DER.integer(quantity)), (1702, DER.utf8(productID)), (1703, DER.utf8(transactionID)),
            (1704, DER.ia5(SimulatedReceipt.date(purchaseDate))), (1705, DER.utf8(originalTransactionID)),
            (1706, DER.ia5(SimulatedReceipt.date(purchaseDate))), (1707, DER.integer(0)),
            (1711, DER.integer(0)), (1713, DER.integer(0)), (1719, DER.integer(0)),
        ]
        // An empty text is how Apple says that there is none.
        attributes.append((1708, DER.ia5(expiresDate.map(SimulatedReceipt.date) ?? "")))
        attributes.append((1712, DER.ia5(cancellationDate.map(SimulatedReceipt.date) ?? "")))
        return SimulatedReceipt.set(attributes, overrides)
    }
}
