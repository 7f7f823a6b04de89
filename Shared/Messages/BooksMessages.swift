/// Do the books of these customers agree? A page of them, in the order of their ids.
public struct BooksPageRequested: Message {
    /// Routing key.
    public static var type: MessageType { .booksPageRequested }
    /// Customers of a page at most: an answer about wholly spoiled books stays below 512 kB.
    public static let mostCustomers: Int64 = 500
    /// Where the last page ended; nil: from the beginning.
    public var after: CustomerID?
    /// Customers at most.
    public var limit: Int64

    /// Composes the question.
    public init(after: CustomerID?, limit: Int64) {
        self.after = after
        self.limit = limit
    }
}

/// An account whose books do not agree, as they stood at one instant.
public struct BooksDifference: Codable, Sendable, Equatable {
    /// The app.
    public var app: AppID
    /// Whose wallet.
    public var customer: CustomerID
    /// The asset.
    public var asset: AssetID
    /// What the account says.
    public var balance: Int64
    /// The sum of its ledger.
    public var ledger: Int64
    /// What is left of its lots.
    public var lots: Int64
    /// The balance after its last line; nil: it has no line.
    public var newest: Int64?
    /// Lines whose balance is not the one before them and their amount.
    public var brokenLines: Int64

    /// Composes the difference.
    public init(
        app: AppID, customer: CustomerID, asset: AssetID, balance: Int64, ledger: Int64, lots: Int64, newest: Int64?,
        brokenLines: Int64
    ) {
        self.app = app
        self.customer = customer
        self.asset = asset
        self.balance = balance
        self.ledger = ledger
        self.lots = lots
        self.newest = newest
        self.brokenLines = brokenLines
    }
}

/// What accounts of an asset add up to.
public struct BooksTotal: Codable, Sendable, Equatable {
    /// The app.
    public var app: AppID
    /// The asset.
    public var asset: AssetID
    /// Accounts.
    public var accounts: Int64
    /// The sum of their balances.
    public var balance: Int64
    /// What refunds could not take back and is still owed.
    public var owed: Int64

    /// Composes the total.
    public init(app: AppID, asset: AssetID, accounts: Int64, balance: Int64, owed: Int64) {
        self.app = app
        self.asset = asset
        self.accounts = accounts
        self.balance = balance
        self.owed = owed
    }
}

/// A customer whom somebody should look at.
public struct BooksRisk: Codable, Sendable, Equatable {
    /// The app.
    public var app: AppID
    /// Who.
    public var customer: CustomerID
    /// Flags raised since an operator cleared them last.
    public var flags: Int64
    /// When the last one was raised (ms since 1970).
    public var lastAt: Int64

    /// Composes the risk.
    public init(app: AppID, customer: CustomerID, flags: Int64, lastAt: Int64) {
        self.app = app
        self.customer = customer
        self.flags = flags
        self.lastAt = lastAt
    }
}

/// How the books of a page of customers stand, all of it at one instant.
public struct BooksPageAnswered: Message {
    /// Routing key of the type.
    public static var type: MessageType { .booksPageAnswered }
    /// Customers looked at.
    public var customers: Int64
    /// The last of them; nil: there was none.
    public var last: CustomerID?
    /// Whether there may be more.
    public var hasMore: Bool
    /// Accounts that do not agree.
    public var differences: [BooksDifference]
    /// Sums by app and asset.
    public var totals: [BooksTotal]
    /// Customers with flags.
    public var risks: [BooksRisk]

    /// Composes the answer.
    public init(
        customers: Int64, last: CustomerID?, hasMore: Bool, differences: [BooksDifference], totals: [BooksTotal],
        risks: [BooksRisk]
    ) {
        self.customers = customers
        self.last = last
        self.hasMore = hasMore
        self.differences = differences
        self.totals = totals
        self.risks = risks
    }
}
