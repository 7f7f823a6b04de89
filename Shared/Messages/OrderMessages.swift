/// A client asks for an order before it asks StoreKit.
public struct OrderRequested: Message {
    /// Routing key.
    public static var type: MessageType { .orderRequested }
    /// The app.
    public var app: AppID
    /// The caller.
    public var userID: UserID
    /// What is to be bought.
    public var productID: ProductID
    /// The number the gateway drew for it: unguessable, so a redelivery finds the order it made.
    public var orderNumber: OrderNumber
    /// The token the gateway drew for it, lower-case UUID text.
    public var appAccountToken: String
    /// Who the caller is to starter offers.
    public var identities: [IdentityHash]?

    /// Composes the message; optional fields are set afterwards.
    public init(app: AppID, userID: UserID, productID: ProductID, orderNumber: OrderNumber, appAccountToken: String) {
        self.app = app
        self.userID = userID
        self.productID = productID
        self.orderNumber = orderNumber
        self.appAccountToken = appAccountToken
    }
}

/// An order and the token issued with it, stored before either was told to anybody.
public struct OrderCreated: Message {
    /// Routing key.
    public static var type: MessageType { .orderCreated }
    /// Its owner.
    public var customer: CustomerID
    /// The order.
    public var orderNumber: OrderNumber
    /// What is to be bought.
    public var productID: ProductID
    /// The token, valid for ever.
    public var appAccountToken: String
    /// When the order's label becomes "expired" (ms since 1970); the token stays valid.
    public var expiresAt: Int64
    /// Which user that is: a hash under a key that only Granting's database has. By it a customer is found again whose row
    /// was lost; absent where there is no user, and in facts of before.
    public var userDigest: String?

    /// Composes the message.
    public init(
        customer: CustomerID, orderNumber: OrderNumber, productID: ProductID, appAccountToken: String, expiresAt: Int64,
        userDigest: String? = nil
    ) {
        self.customer = customer
        self.orderNumber = orderNumber
        self.productID = productID
        self.appAccountToken = appAccountToken
        self.expiresAt = expiresAt
        self.userDigest = userDigest
    }
}

/// The answer to an order request.
public struct OrderAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .orderAnswered }
    /// Why there is no order; nil when there is one.
    public var code: AnswerCode?
    /// The order.
    public var orderNumber: OrderNumber?
    /// What is to be bought.
    public var productID: ProductID?
    /// The token to pass to StoreKit.
    public var appAccountToken: String?

    /// Composes the answer.
    public init(code: AnswerCode?, orderNumber: OrderNumber?, productID: ProductID?, appAccountToken: String?) {
        self.code = code
        self.orderNumber = orderNumber
        self.productID = productID
        self.appAccountToken = appAccountToken
    }
}
