import Messages

/// The part of the books that a batch of messages touches, in memory: loaded, decided on, saved.
///
/// Decisions are methods that change this value and nothing else: no clock, no database, no broker. Folded over a
/// batch, each message sees what the one before it left. Refusals and overflows are values; nothing here traps.
struct Books {
    /// The catalogues in force, one an app.
    var catalogs: [AppID: Catalog] = [:]
    /// The time of the decisions (ms since 1970), the database's clock.
    var now: Int64 = 0
    /// The number of the order that stands for a second purchase on one order: the same for the same purchase.
    var siblingOrderNumber: @Sendable (VerifiedTransaction, CustomerID) -> OrderNumber

    /// Wallet owners.
    var customers: [CustomerID: Customer] = [:]
    /// Tokens handed out.
    var tokens: [TokenKey: IssuedToken] = [:]
    /// Tokens of users, one each.
    var userTokens: [CustomerID: String] = [:]
    /// Who customers are to starter offers, and which offers are used up.
    var identities: [CustomerID: Set<IdentityHash>] = [:]
    var claims: [StarterKey: StarterClaim] = [:]
    /// Orders.
    var orders: [OrderNumber: Order] = [:]
    /// Transactions.
    var purchases: [TransactionKey: Purchase] = [:]
    /// What was delivered.
    var grants: [TransactionKey: Grant] = [:]
    /// Non-consumables that were delivered, by what makes them unique.
    var nonConsumables: [NonConsumableKey: TransactionKey] = [:]
    /// Periods of subscriptions that were delivered.
    var periods: [PeriodKey: TransactionKey] = [:]
    /// Who owns subscriptions; the transaction id stands for the original one.
    var subscriptionOwners: [TransactionKey: SubscriptionOwner] = [:]
    /// Balances of wallets; a missing one is zero.
    var wallets: [CustomerID: [AssetID: Account]] = [:]
    /// Lots.
    var lots: [LotKey: Lot] = [:]
    /// The lots of each grant, sorted by asset.
    private var grantLots: [TransactionKey: [LotKey]] = [:]
    /// The lots of each account, oldest first: the order in which they are spent.
    var lotOrder: [AccountKey: [LotKey]] = [:]
    /// What refunds and payments of their debts drew from lots, oldest first, by the refunded purchase.
    var clawbackDraws: [TransactionKey: [Draw]] = [:]
    /// What refunds could not take back.
    var debts: [LotKey: Debt] = [:]
    /// Refunds that limits may count, and since when an operator wants them counted (ms since 1970).
    var countedRefunds: [TransactionKey: CountedRefund] = [:]
    var clearedUntil: [CustomerID: Int64] = [:]
    /// Decided spends.
    var spends: [SpendKey: Spend] = [:]

    /// The newest word of customers about consent, and the messages whose word is on record.
    var consents: [CustomerID: Consent] = [:]
    var consentCauses: Set<MessageID> = []

    /// What has to be saved.
    var changes = Changes()

    /// Empty books.
    init(siblingOrderNumber: @escaping @Sendable (VerifiedTransaction, CustomerID) -> OrderNumber) {
        self.siblingOrderNumber = siblingOrderNumber
    }

    /// The catalogue of an app.
    func catalog(of app: AppID) -> Catalog { catalogs[app] ?? .none }

    /// The balance of an account.
    func balance(_ account: AccountKey) -> Int64 { wallets[account.customer]?[account.asset]?.balance ?? 0 }

    /// The wallet of a customer, sorted by asset.
    func balances(of customer: CustomerID) -> [AssetAmount] {
        (wallets[customer] ?? [:]).sorted { $0.key < $1.key }
            .map { AssetAmount(asset: $0.key, amount: $0.value.balance) }
    }

    /// Whose token this is, if it is one of ours.
    func owner(ofToken token: String?, in app: AppID) -> IssuedToken? {
        token.flatMap { tokens[TokenKey(app: app, token: $0)] }
    }

    /// The lots of a grant, sorted by asset.
    func lots(of grant: TransactionKey) -> [Lot] {
        (grantLots[grant] ?? []).compactMap { lots[$0] }
    }

    /// Adds a lot at the end of its account's order. A lot that is there already stays as it is.
    mutating func insert(_ lot: Lot) {
        guard lots[lot.key] == nil else { return }
        lots[lot.key] = lot
        lotOrder[lot.account, default: []].append(lot.key)
        var keys = grantLots[lot.key.purchase] ?? []
        keys.insert(lot.key, at: keys.firstIndex { lot.key.asset < $0.asset } ?? keys.endIndex)
        grantLots[lot.key.purchase] = keys
    }

    /// Adds a grant.
    mutating func insert(_ grant: Grant) {
        grants[grant.key] = grant
        if let period = grant.period { periods[period] = grant.key }
        guard grant.kind == .nonConsumable else { return }
        let key = NonConsumableKey(
            environment: grant.key.environment, originalTransactionID: grant.originalTransactionID,
            customer: grant.customer)
        nonConsumables[key] = grant.key
    }
}

/// What a fold left to be saved: keys of rows whose final state is in the books, and rows that are only ever appended.
struct Changes {
    var purchases: Set<TransactionKey> = []
    /// Of these, the ones with a newer statement.
    var statements: Set<TransactionKey> = []
    var newOrders: [OrderNumber] = []
    var userTokens: [TokenKey] = []
    var identities: [CustomerIdentity] = []
    var claims: [StarterKey] = []
    var deliveredOrders: Set<OrderNumber> = []
    var newGrants: [TransactionKey] = []
    var changedGrants: Set<TransactionKey> = []
    var accounts: Set<AccountKey> = []
    var newLots: [LotKey] = []
    var changedLots: Set<LotKey> = []
    var draws: [Draw] = []
    var ledger: [LedgerRow] = []
    var debts: Set<LotKey> = []
    var refundStatements: [RefundStatement] = []
    var flags: [RiskFlag] = []
    var spends: [SpendKey] = []
    var consents: [Consent] = []
}
