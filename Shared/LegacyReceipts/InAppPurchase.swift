import AppStore

/// One purchase in a receipt, by the names of Apple's documents. Dates are milliseconds since 1970.
public struct InAppPurchase: Sendable, Equatable {
    /// More units of one purchase than this are a mistake or an attack; StoreKit allows 10.
    static let quantities: ClosedRange<Int64> = 1...100

    /// Units.
    public let quantity: Int64
    /// What was bought.
    public let productID: String
    /// Unique per purchase, renewal or restore.
    public let transactionID: String
    /// Shared by all renewals and restores.
    public let originalTransactionID: String
    /// When it was bought.
    public let purchaseDate: Int64
    /// When the chain of renewals or restores began.
    public let originalPurchaseDate: Int64?
    /// Subscriptions: end of the period.
    public let expiresDate: Int64?
    /// Subscriptions: the period, stable across devices.
    public let webOrderLineItemID: Int64?
    /// Set when refunded, or when upgraded: nothing is granted for it.
    public let cancellationDate: Int64?
    /// 1 an issue in the app, 0 another reason.
    public let cancellationReason: Int64?
    /// A trial of a subscription.
    public let isTrialPeriod: Bool
    /// An introductory price of a subscription.
    public let isInIntroOfferPeriod: Bool
    /// Numbers of attributes nobody has documented.
    public let unknownAttributes: Set<Int64>

    /// Documented by Apple, or seen and known to say nothing of use (1707, 1709, 1710, 1714 to 1718, 1722).
    private static let known = Set<Int64>(1701...1720).union([1722])

    /// Reads the content of attribute 17 number `place`.
    init(_ content: ArraySlice<UInt8>, place: Int) throws(VerificationFailure) {
        let attributes = try ReceiptAttributes(content, owner: "in_app[\(place)].")
        let quantity = try attributes.integer(1701, "quantity") ?? 1
        guard Self.quantities.contains(quantity) else { throw attributes.failure("quantity", "is \(quantity)") }
        self.quantity = quantity
        productID = try attributes.required(attributes.text(1702, "product_id"), "product_id")
        transactionID = try attributes.required(attributes.identifier(1703, "transaction_id"), "transaction_id")
        originalTransactionID =
            try attributes.identifier(1705, "original_transaction_id") ?? transactionID
        purchaseDate = try attributes.required(attributes.date(1704, "purchase_date"), "purchase_date")
        originalPurchaseDate = try attributes.date(1706, "original_purchase_date")
        expiresDate = try attributes.date(1708, "expires_date")
        webOrderLineItemID = try attributes.integer(1711, "web_order_line_item_id")
        cancellationDate = try attributes.date(1712, "cancellation_date")
        isTrialPeriod = try attributes.integer(1713, "is_trial_period") == 1
        isInIntroOfferPeriod = try attributes.integer(1719, "is_in_intro_offer_period") == 1
        cancellationReason = try attributes.integer(1720, "cancellation_reason")
        unknownAttributes = attributes.numbers.subtracting(Self.known)
    }
}
