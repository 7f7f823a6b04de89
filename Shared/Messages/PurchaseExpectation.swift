/// What a client says it hands in. Compared with what Apple signed; where they differ, nothing is granted by that request.
public struct PurchaseExpectation: Codable, Sendable, Equatable {
    /// The app's own code of the product.
    public var productCode: String?
    /// App Store Connect's id of it.
    public var productID: ProductID?
    /// Apple's id of the purchase.
    public var transactionID: TransactionID?
    /// The token the client bought with (lower-case UUID text); must be one of the caller's.
    public var appAccountToken: String?

    /// Composes the expectation.
    public init(
        productCode: String?, productID: ProductID?, transactionID: TransactionID?, appAccountToken: String? = nil
    ) {
        self.productCode = productCode
        self.productID = productID
        self.transactionID = transactionID
        self.appAccountToken = appAccountToken
    }
}

/// A product that one identity may buy once, such as a pack for new users.
public struct StarterOffer: Codable, Sendable, Equatable {
    /// The offer; products of one offer use it up together.
    public var offer: String
    /// What is granted to whoever paid and is not eligible, for one unit; nil: the purchase is held for support.
    public var substitute: [AssetAmount]?

    /// Composes the offer.
    public init(offer: String, substitute: [AssetAmount]? = nil) {
        self.offer = offer
        self.substitute = substitute
    }
}
