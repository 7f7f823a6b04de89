/// What is known of a purchase that has no grant of its own and is not held: nobody's yet, refunded before it could be
/// delivered, or delivered by another transaction's grant. Said whenever that changes, so that it can be put back where
/// the database was lost.
public struct PurchaseNoted: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseNoted }
    /// Its owner; nil: whoever claims it.
    public var customer: CustomerID?
    /// The purchase.
    public var transactionID: TransactionID
    /// What was bought.
    public var productID: ProductID
    /// Another transaction whose grant delivers it, if any.
    public var deliveredBy: TransactionID?
    /// The order that ended with it.
    public var orderNumber: OrderNumber?
    /// The order that one stands beside, where it is a second purchase on it.
    public var siblingOf: OrderNumber?
    /// The order that was named with it.
    public var submittedOrder: OrderNumber?
    /// True when no order and no token proved the owner: the first caller got it.
    public var isClaimedByCaller: Bool
    /// The newest that Apple signed about it, as in ``PurchaseGranted/statement``.
    public var statement: VerifiedTransaction
    /// Which user its owner is, as in ``PurchaseGranted/userDigest``.
    public var userDigest: String?

    /// Composes the message; the rest is set afterwards.
    public init(
        customer: CustomerID?, transactionID: TransactionID, productID: ProductID, isClaimedByCaller: Bool,
        statement: VerifiedTransaction
    ) {
        self.customer = customer
        self.transactionID = transactionID
        self.productID = productID
        self.isClaimedByCaller = isClaimedByCaller
        self.statement = statement
    }
}

/// What is left of a granted purchase may not be spent: a token that Apple signed says that it is another customer's.
public struct PurchaseFrozen: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseFrozen }
    /// Who has it.
    public var customer: CustomerID
    /// The purchase.
    public var transactionID: TransactionID
    /// What Apple signed, with that token; as in ``PurchaseGranted/statement``.
    public var statement: VerifiedTransaction

    /// Composes the message.
    public init(customer: CustomerID, transactionID: TransactionID, statement: VerifiedTransaction) {
        self.customer = customer
        self.transactionID = transactionID
        self.statement = statement
    }
}
