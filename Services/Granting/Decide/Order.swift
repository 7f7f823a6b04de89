import Messages

/// What a customer announced to buy, with the token that proves it later.
struct Order: Sendable, Equatable {
    /// `IAP` + UTC date + 12 digits.
    var number: OrderNumber
    /// Its app.
    var app: AppID
    /// Its owner.
    var customer: CustomerID
    /// What is to be bought.
    var productID: ProductID
    /// The token issued with it, lower-case UUID text; nil for sibling orders.
    var token: String?
    /// When its label becomes "expired" (ms since 1970). The token stays valid: Ask to Buy takes days.
    var expiresAt: Int64
    /// The message that caused it.
    var cause: MessageID
    /// The purchase it was delivered by.
    var deliveredBy: TransactionKey?
    /// The order whose second purchase this row stands for.
    var siblingOf: OrderNumber?
}

/// A token that was handed out: valid for ever.
struct IssuedToken: Sendable, Equatable {
    /// Whoever presents it acts for this customer.
    var customer: CustomerID
    /// The order it was issued with.
    var orderNumber: OrderNumber?
}

/// A token within its app, lower-case UUID text.
struct TokenKey: Hashable, Sendable {
    /// The app.
    var app: AppID
    /// The token.
    var token: String
}
