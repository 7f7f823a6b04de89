import Messages

/// What a batch of messages is about: everything the loader has to look up for it.
struct BookNeeds {
    /// A verified purchase, with the user who handed it in, or the customer if it is a re-drive.
    struct PurchaseNeed {
        /// The message.
        var cause: MessageID
        /// The app whose bundle id Apple signed.
        var app: AppID
        /// Who handed it in.
        var user: UserKey?
        /// When (ms since 1970): by it is known who that user was.
        var at: Int64 = .max
        /// The same, where only the customer is known.
        var customer: CustomerID?
        /// The order they named.
        var orderNumber: OrderNumber?
        /// What Apple signed.
        var transaction: VerifiedTransaction
        /// The notification that brought it.
        var notification: NotificationSource?
        /// What the client says it is.
        var expectation: PurchaseExpectation?
        /// Who the caller is to starter offers.
        var identities: [IdentityHash]?
    }

    /// Purchases to be decided.
    var purchases: [PurchaseNeed] = []
    /// Purchases that wait for one of these to be taken back, and are decided with it.
    var waiting: [PurchaseNeed] = []
    /// Order requests and who asks.
    var orders: [OrderRequested] = []
    /// Tokens of users and who asks.
    var userTokens: [TokenRequested] = []
    /// Spends and who asks.
    var spends: [SpendRequested] = []
    /// Consent given or withdrawn, with the messages that say so.
    var consents: [(cause: MessageID, request: ConsentChangeRequested)] = []

    /// When each user was last heard of (ms since 1970), as far as the messages tell.
    private(set) var heard: [UserKey: Int64] = [:]

    /// Notes when a user said something.
    mutating func hear(_ user: UserKey, at instant: Int64) { heard[user] = max(heard[user] ?? instant, instant) }

    /// The apps spoken of, sorted.
    var apps: [AppID] {
        Set(
            purchases.map(\.app) + orders.map(\.app) + userTokens.map(\.app) + spends.map(\.app)
                + consents.map(\.request.app)
        ).sorted()
    }

    /// The users who need a customer row, sorted.
    var users: [UserKey] {
        Set(
            purchases.compactMap(\.user) + orders.map { UserKey(app: $0.app, user: $0.userID) }
                + spends.map { UserKey(app: $0.app, user: $0.userID) }
                + consents.map { UserKey(app: $0.request.app, user: $0.request.userID) }
                + userTokens.map { UserKey(app: $0.app, user: $0.userID) }
        ).sorted()
    }

    /// The transactions, sorted.
    var keys: [TransactionKey] { Set(purchases.map(\.transaction.key)).sorted() }

    /// One submission a transaction, sorted by key: what its row begins with if it is missing.
    var firstSubmissions: [Submission] {
        var seen: Set<TransactionKey> = []
        return purchases.filter { seen.insert($0.transaction.key).inserted }.map {
            Submission(cause: $0.cause, app: $0.app, caller: nil, orderNumber: nil, transaction: $0.transaction)
        }.sorted { $0.transaction.key < $1.transaction.key }
    }

    /// The tokens named: signed ones, and those of orders to be made.
    var tokens: [TokenKey] {
        let signed = purchases.compactMap { need in
            need.transaction.appAccountToken.map { TokenKey(app: need.app, token: $0) }
        }
        let said = purchases.compactMap { need in
            need.expectation?.appAccountToken.map { TokenKey(app: need.app, token: $0) }
        }
        let drawn =
            orders.map { TokenKey(app: $0.app, token: $0.appAccountToken) }
            + userTokens.map { TokenKey(app: $0.app, token: $0.appAccountToken) }
        return Array(Set(signed + said + drawn))
    }

    /// Whether anybody says who they are to starter offers.
    var bringsIdentities: Bool {
        purchases.contains { $0.identities != nil } || orders.contains { $0.identities != nil }
            || userTokens.contains { $0.identities != nil }
    }

    /// The orders named.
    var orderNumbers: Set<OrderNumber> { Set(purchases.compactMap(\.orderNumber) + orders.map(\.orderNumber)) }

    /// The subscriptions spoken of, sorted; the transaction id stands for the original one.
    var subscriptions: [TransactionKey] {
        Set(purchases.map(\.transaction).filter(\.isAutoRenewable).map(\.chain)).sorted()
    }

    /// The periods of subscriptions spoken of, sorted.
    var periods: [PeriodKey] { Set(purchases.compactMap(\.transaction.period)).sorted() }

    /// The chains of restores that non-consumables belong to; the transaction id stands for the original one.
    var chains: [TransactionKey] {
        Set(
            (purchases + waiting).map(\.transaction).filter(\.isNonConsumable).map(\.chain)
        ).sorted()
    }
}
