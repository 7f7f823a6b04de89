import Messages

/// A purchase that was delivered to a wallet. One row a purchase, for ever.
struct Grant: Sendable, Equatable {
    /// What makes a grant unique beyond its transaction.
    enum Kind: String, Sendable {
        /// Nothing more.
        case consumable
        /// Once per (environment, original transaction, customer): a restore delivers nothing again.
        case nonConsumable = "non_consumable"
        /// Once per (environment, original transaction, web order line item): a subscription's period.
        case period
    }

    /// The purchase.
    var key: TransactionKey
    /// Its app.
    var app: AppID
    /// Whose wallet.
    var customer: CustomerID
    /// What was bought.
    var productID: ProductID
    /// The catalogue version that decided.
    var productVersion: Int64
    /// Units bought.
    var quantity: Int64
    /// How it is unique.
    var kind: Kind
    /// The chain of restores or renewals it belongs to.
    var originalTransactionID: TransactionID
    /// The order delivered by it.
    var orderNumber: OrderNumber?
    /// The message that caused it: delivered again, that message is answered GRANTED again.
    var cause: MessageID
    /// Which period of the subscription it is.
    var lineItem: String? = nil
    /// Of a starter product, how many units were the offer; of the others its substitute was granted.
    var starterUnits: Int64? = nil
    /// How often the revoked share changed since.
    var revision: Int64 = 0
    /// The revoked share that the wallet reflects (milliunits of per cent).
    var appliedShare: Int64 = 0
    /// Whether it was bought in the sandbox and swept: it gives nothing any more.
    var isSwept = false

    /// The period it delivers.
    var period: PeriodKey? {
        lineItem.map {
            PeriodKey(environment: key.environment, originalTransactionID: originalTransactionID, item: $0)
        }
    }
}

/// A non-consumable in a customer's hands.
struct NonConsumableKey: Hashable, Sendable {
    /// Apple's book.
    var environment: StoreEnvironment
    /// The first purchase of the chain of restores.
    var originalTransactionID: TransactionID
    /// Whose.
    var customer: CustomerID
}
