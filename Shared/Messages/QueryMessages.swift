/// Question: a user's balances.
public struct BalanceRequested: Message {
    /// Routing key.
    public static var type: MessageType { .balanceRequested }
    /// The app.
    public var app: AppID
    /// Whose.
    public var userID: UserID

    /// Composes the question.
    public init(app: AppID, userID: UserID) {
        self.app = app
        self.userID = userID
    }
}

/// A user's balances; assets never held are absent.
public struct BalanceAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .balanceAnswered }
    /// The balances.
    public var balances: [AssetAmount]
    /// What was ever spent of each.
    public var spent: [AssetAmount]?

    /// Composes the answer.
    public init(balances: [AssetAmount], spent: [AssetAmount]? = nil) {
        self.balances = balances
        self.spent = spent
    }
}

/// Question: a page of a user's ledger, newest first.
public struct LedgerRequested: Message {
    /// Routing key.
    public static var type: MessageType { .ledgerRequested }
    /// The app.
    public var app: AppID
    /// Whose.
    public var userID: UserID
    /// Only this asset, if given.
    public var asset: AssetID?
    /// Rows before this ledger id (exclusive); nil = from the newest.
    public var before: Int64?
    /// How many rows at most.
    public var limit: Int64

    /// Composes the question.
    public init(app: AppID, userID: UserID, asset: AssetID?, before: Int64?, limit: Int64) {
        self.app = app
        self.userID = userID
        self.asset = asset
        self.before = before
        self.limit = limit
    }
}

/// Which way a ledger row moved the balance.
public enum LedgerDirection: String, Codable, Sendable {
    /// Into the wallet.
    case into = "IN"
    /// Out of the wallet.
    case out = "OUT"
}

/// One row of a ledger.
public struct LedgerEntry: Codable, Sendable, Equatable {
    /// Place in the ledger; grows with time within an account.
    public var id: Int64
    /// What.
    public var asset: AssetID
    /// Which way.
    public var direction: LedgerDirection
    /// How much, never negative.
    public var amount: Int64
    /// The balance after it.
    public var balanceAfter: Int64
    /// `APPLE_IAP`, `APPLE_REFUND`, `APPLE_REFUND_REVERSED`, `APP_USAGE`…
    public var sourceType: String
    /// What caused it, within its type.
    public var sourceID: String
    /// For people.
    public var remark: String?
    /// The environment of the purchase; nil for spends.
    public var environment: StoreEnvironment?
    /// When (ms since 1970).
    public var createdAt: Int64

    /// Composes the row.
    public init(
        id: Int64, asset: AssetID, direction: LedgerDirection, amount: Int64, balanceAfter: Int64, sourceType: String,
        sourceID: String, remark: String?, environment: StoreEnvironment?, createdAt: Int64
    ) {
        self.id = id
        self.asset = asset
        self.direction = direction
        self.amount = amount
        self.balanceAfter = balanceAfter
        self.sourceType = sourceType
        self.sourceID = sourceID
        self.remark = remark
        self.environment = environment
        self.createdAt = createdAt
    }
}

/// A page of a ledger.
public struct LedgerAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .ledgerAnswered }
    /// The rows, newest first.
    public var entries: [LedgerEntry]
    /// Ask again with `before` set to this for the next page; nil = no more.
    public var nextBefore: Int64?

    /// Composes the answer.
    public init(entries: [LedgerEntry], nextBefore: Int64?) {
        self.entries = entries
        self.nextBefore = nextBefore
    }
}

/// Question: one of a user's own transactions.
public struct TransactionRequested: Message {
    /// Routing key.
    public static var type: MessageType { .transactionRequested }
    /// The app.
    public var app: AppID
    /// Who asks; another user's transaction is "not found".
    public var userID: UserID
    /// Which.
    public var transactionID: TransactionID

    /// Composes the question.
    public init(app: AppID, userID: UserID, transactionID: TransactionID) {
        self.app = app
        self.userID = userID
        self.transactionID = transactionID
    }
}

/// A transaction as its owner may see it.
public struct TransactionSummary: Codable, Sendable, Equatable {
    /// Which.
    public var transactionID: TransactionID
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// What was bought.
    public var productID: ProductID
    /// Units.
    public var quantity: Int64
    /// The order it delivered.
    public var orderNumber: OrderNumber?
    /// `GRANTED`, `REVOKED`, `HELD`.
    public var status: String
    /// Why it is held.
    public var heldReason: HeldReason?
    /// What it granted, before any revoked share.
    public var amounts: [AssetAmount]
    /// Revoked share (milliunits of per cent).
    public var revokedShare: Int64
    /// When it was bought (ms since 1970).
    public var purchaseDate: Int64
    /// When it was delivered (ms since 1970).
    public var grantedAt: Int64?
    /// The app's own code of what was bought, once it is delivered.
    public var productCode: String?
    /// What refunds of it could not take back, as far as it is still open.
    public var owed: [AssetAmount]?

    /// Composes the required part; optional fields are set afterwards.
    public init(
        transactionID: TransactionID, environment: StoreEnvironment, productID: ProductID, quantity: Int64,
        orderNumber: OrderNumber?, status: String, heldReason: HeldReason?, amounts: [AssetAmount],
        revokedShare: Int64, purchaseDate: Int64, grantedAt: Int64?
    ) {
        self.transactionID = transactionID
        self.environment = environment
        self.productID = productID
        self.quantity = quantity
        self.orderNumber = orderNumber
        self.status = status
        self.heldReason = heldReason
        self.amounts = amounts
        self.revokedShare = revokedShare
        self.purchaseDate = purchaseDate
        self.grantedAt = grantedAt
    }
}

/// The answer to a transaction question: one entry an environment it exists in (ids repeat across environments only
/// by accident), none if it is not the asker's.
public struct TransactionAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .transactionAnswered }
    /// The transactions.
    public var transactions: [TransactionSummary]

    /// Composes the answer.
    public init(transactions: [TransactionSummary]) { self.transactions = transactions }
}

/// A lane parked the request; an operator has to look at it.
public struct RequestParked: Message {
    /// Routing key of the type.
    public static var type: MessageType { .requestParked }
    /// The stable reason, free of payloads.
    public var reason: String

    /// Composes the answer.
    public init(reason: String) { self.reason = reason }
}
