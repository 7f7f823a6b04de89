/// Question: a page of what was delivered to a user, newest first.
public struct HistoryRequested: Message {
    /// Routing key.
    public static var type: MessageType { .historyRequested }
    /// The app.
    public var app: AppID
    /// Whose.
    public var userID: UserID
    /// Only what was delivered before this place; nil = from the newest.
    public var before: HistoryPlace?
    /// How many at most.
    public var limit: Int64

    /// Composes the question.
    public init(app: AppID, userID: UserID, before: HistoryPlace? = nil, limit: Int64) {
        self.app = app
        self.userID = userID
        self.before = before
        self.limit = limit
    }
}

/// A place in a user's history. Two deliveries never share one, so pages repeat nothing and leave out nothing.
public struct HistoryPlace: Codable, Sendable, Equatable {
    /// When it was delivered, in microseconds since 1970: milliseconds would be shared by one batch.
    public var microseconds: Int64
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// Which purchase.
    public var transactionID: TransactionID

    /// Composes the place.
    public init(microseconds: Int64, environment: StoreEnvironment, transactionID: TransactionID) {
        self.microseconds = microseconds
        self.environment = environment
        self.transactionID = transactionID
    }
}

/// A purchase that was delivered, as its owner may see it.
public struct DeliveredPurchase: Codable, Sendable, Equatable {
    /// Where it stands in the history; names the transaction and its environment.
    public var place: HistoryPlace
    /// What was bought.
    public var productID: ProductID
    /// Units.
    public var quantity: Int64
    /// What it delivered, before any revoked share.
    public var amounts: [AssetAmount]
    /// When it was bought (ms since 1970).
    public var purchaseDate: Int64
    /// Revoked share that the wallet reflects (milliunits of per cent).
    public var revokedShare: Int64
    /// When Apple took it back (ms since 1970); nil if it did not.
    public var revokedAt: Int64?

    /// Composes the record.
    public init(
        place: HistoryPlace, productID: ProductID, quantity: Int64, amounts: [AssetAmount], purchaseDate: Int64,
        revokedShare: Int64, revokedAt: Int64?
    ) {
        self.place = place
        self.productID = productID
        self.quantity = quantity
        self.amounts = amounts
        self.purchaseDate = purchaseDate
        self.revokedShare = revokedShare
        self.revokedAt = revokedAt
    }
}

/// A page of a user's history.
public struct HistoryAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .historyAnswered }
    /// What was delivered, newest first.
    public var purchases: [DeliveredPurchase]
    /// Ask again with `before` set to this for the next page; nil = no more.
    public var nextBefore: HistoryPlace?

    /// Composes the answer.
    public init(purchases: [DeliveredPurchase], nextBefore: HistoryPlace?) {
        self.purchases = purchases
        self.nextBefore = nextBefore
    }
}
