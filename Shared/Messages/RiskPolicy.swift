/// From how many refunds within 30 days on a customer is treated with care. Counted per Apple environment; each limit
/// ends by itself when the refunds are older, or when an operator clears the customer.
public struct RiskPolicy: Codable, Sendable, Equatable {
    /// Orders are refused from here on.
    public var orders: RiskLimit?
    /// Spends are refused from here on.
    public var spends: RiskLimit?
    /// Somebody is asked to look.
    public var review: RiskLimit?

    /// Composes the policy.
    public init(orders: RiskLimit? = nil, spends: RiskLimit? = nil, review: RiskLimit? = nil) {
        self.orders = orders
        self.spends = spends
        self.review = review
    }
}

/// A number of refunds, or an amount of money refunded; whichever is reached first.
public struct RiskLimit: Codable, Sendable, Equatable {
    /// So many refunded purchases.
    public var refunds: Int64?
    /// So much refunded in one of these currencies.
    public var amounts: [MoneyAmount]

    /// Composes the limit.
    public init(refunds: Int64?, amounts: [MoneyAmount]) {
        self.refunds = refunds
        self.amounts = amounts
    }
}

/// An amount of money as Apple writes prices.
public struct MoneyAmount: Codable, Sendable, Equatable {
    /// ISO 4217.
    public var currency: String
    /// Thousandths of the currency's unit.
    public var milliunits: Int64

    /// Composes the amount.
    public init(currency: String, milliunits: Int64) {
        self.currency = currency
        self.milliunits = milliunits
    }
}
