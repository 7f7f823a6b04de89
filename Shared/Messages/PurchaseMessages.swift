/// A signed transaction handed in by a client (or fed again by reconciliation, then without a user).
public struct PurchaseSubmitted: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseSubmitted }
    /// The app whose surface was called.
    public var app: AppID
    /// The caller, from the login token.
    public var userID: UserID?
    /// The order the client says it belongs to.
    public var orderNumber: OrderNumber?
    /// The JWS; empty if a receipt is handed in instead. Travels only to the service that verifies it.
    public var signedTransaction: String
    /// What else the client says about it.
    public var expectation: PurchaseExpectation?
    /// Who the caller is to starter offers.
    public var identities: [IdentityHash]?
    /// A receipt of before StoreKit 2, as the client has it (base64, or Unity's JSON around it).
    public var receipt: String?
    /// Which of the receipt's purchases are meant.
    public var productID: ProductID?

    /// Hands in a receipt, for all its purchases of a product.
    public init(app: AppID, userID: UserID?, receipt: String, productID: ProductID) {
        self.init(app: app, userID: userID, orderNumber: nil, signedTransaction: "")
        self.receipt = receipt
        self.productID = productID
    }

    /// Composes the message.
    public init(
        app: AppID, userID: UserID?, orderNumber: OrderNumber?, signedTransaction: String,
        expectation: PurchaseExpectation? = nil, identities: [IdentityHash]? = nil
    ) {
        self.app = app
        self.userID = userID
        self.orderNumber = orderNumber
        self.signedTransaction = signedTransaction
        self.expectation = expectation
        self.identities = identities
    }
}

/// A genuine purchase for one of our apps. Only Verification may say so (broker permissions).
public struct PurchaseVerified: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseVerified }
    /// The app that the signed bundle id belongs to.
    public var app: AppID
    /// Who handed it in, if anybody is logged in.
    public var userID: UserID?
    /// The order the client says it belongs to.
    public var orderNumber: OrderNumber?
    /// What Apple signed.
    public var transaction: VerifiedTransaction
    /// What else the client says about it.
    public var expectation: PurchaseExpectation?
    /// Who the caller is to starter offers.
    public var identities: [IdentityHash]?
    /// Of a receipt: its further purchases of the product. All are decided in one go and answered once.
    public var others: [VerifiedTransaction]?
    /// When it was handed in (ms since 1970): what a user did before their erasure is nobody's after it.
    public var submittedAt: Int64?

    /// Everything that was verified.
    public var transactions: [VerifiedTransaction] { [transaction] + (others ?? []) }

    /// Composes the message.
    public init(
        app: AppID, userID: UserID?, orderNumber: OrderNumber?, transaction: VerifiedTransaction,
        expectation: PurchaseExpectation? = nil, identities: [IdentityHash]? = nil
    ) {
        self.app = app
        self.userID = userID
        self.orderNumber = orderNumber
        self.transaction = transaction
        self.expectation = expectation
        self.identities = identities
    }
}

/// An amount of an asset. Amounts are whole units (coins, minutes).
public struct AssetAmount: Codable, Sendable, Equatable {
    /// What.
    public var asset: AssetID
    /// How much.
    public var amount: Int64

    /// Composes the pair.
    public init(asset: AssetID, amount: Int64) {
        self.asset = asset
        self.amount = amount
    }
}

/// A purchase was delivered. The one streamed fact of a purchase; it carries the balances after it.
public struct PurchaseGranted: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseGranted }
    /// Whose wallet.
    public var customer: CustomerID
    /// The purchase.
    public var transactionID: TransactionID
    /// What was bought.
    public var productID: ProductID
    /// The catalogue version that decided.
    public var productVersion: Int64
    /// Units bought.
    public var quantity: Int64
    /// The order delivered by it.
    public var orderNumber: OrderNumber?
    /// What was delivered, before any revoked share.
    public var amounts: [AssetAmount]
    /// Share already revoked when it was delivered (milliunits of per cent).
    public var revokedShare: Int64
    /// The wallet afterwards.
    public var balances: [AssetAmount]
    /// True when no order and no token proved the owner: the first caller got it.
    public var isClaimedByCaller: Bool
    /// Whether Verification's word delivered it; else Apple's own did, or a catalogue. Nil in facts of older versions.
    public var isVerified: Bool?
    /// What Apple signed, without the one id that names an Apple account. From here on: what it takes to put the grant
    /// back where it was lost; absent in facts of before.
    public var statement: VerifiedTransaction?
    /// Of a starter product, how many units were the offer.
    public var starterUnits: Int64?
    /// The keyed hashes under which the offer is used up by them.
    public var starterIdentities: [IdentityHash]?
    /// The order that the delivered one stands beside, where a second purchase was made on it.
    public var siblingOf: OrderNumber?
    /// Which user that is: a hash under a key that only Granting's database has. By it a customer is found again whose row
    /// was lost; absent where there is no user, and in facts of before.
    public var userDigest: String?

    /// Composes the message; what it takes to put the grant back is set afterwards.
    public init(
        customer: CustomerID, transactionID: TransactionID, productID: ProductID, productVersion: Int64,
        quantity: Int64, orderNumber: OrderNumber?, amounts: [AssetAmount], revokedShare: Int64,
        balances: [AssetAmount], isClaimedByCaller: Bool
    ) {
        self.customer = customer
        self.transactionID = transactionID
        self.productID = productID
        self.productVersion = productVersion
        self.quantity = quantity
        self.orderNumber = orderNumber
        self.amounts = amounts
        self.revokedShare = revokedShare
        self.balances = balances
        self.isClaimedByCaller = isClaimedByCaller
    }
}

/// Why a genuine purchase may not be granted now. Decided anew on every submission and when its cause changes.
public enum HeldReason: String, Codable, Sendable, CaseIterable {
    /// The catalogue has never known the product.
    case unknownProduct = "unknown_product"
    /// A sandbox purchase by a user that the app's sandbox policy does not list.
    case sandboxPolicy = "sandbox_policy"
    /// Apple's product type and the catalogue's differ.
    case productTypeMismatch = "product_type_mismatch"
    /// Shared by a family member: never a wallet asset.
    case familyShared = "family_shared"
    /// The wallet or the amount would leave 64 bits.
    case amountOverflow = "amount_overflow"
    /// The catalogue entry grants something this version does not deliver yet.
    case notDeliverable = "not_deliverable"
    /// The app requires an appAccountToken and the purchase has none.
    case tokenRequired = "token_required"
    /// A starter product by somebody who has had one; or more than one of it at once.
    case ineligible
    /// A starter product, and it is not known yet who the owner is: their next call tells.
    case identityUnknown = "identity_unknown"
    /// A card that its owner has for ever already: support refunds it, or it is delivered once the other one is.
    case ownedPermanently = "owned_permanently"
}

/// A genuine purchase waits.
public struct PurchaseHeld: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseHeld }
    /// Its owner, if known.
    public var customer: CustomerID?
    /// The purchase.
    public var transactionID: TransactionID
    /// What was bought.
    public var productID: ProductID
    /// Why it waits.
    public var reason: HeldReason
    /// What Apple signed, as in ``PurchaseGranted/statement``.
    public var statement: VerifiedTransaction?
    /// For whom it waits besides its owner: who handed it in. From here on: what it takes to put it back where it was
    /// lost; absent in facts of before.
    public var submitter: CustomerID?
    /// The order they named.
    public var submittedOrder: OrderNumber?
    /// True when no order and no token proved the owner: the first caller got it.
    public var isClaimedByCaller: Bool?
    /// Which user its owner is, or without an owner the submitter, as in ``PurchaseGranted/userDigest``.
    public var userDigest: String?

    /// Composes the message.
    public init(
        customer: CustomerID?, transactionID: TransactionID, productID: ProductID, reason: HeldReason,
        statement: VerifiedTransaction? = nil
    ) {
        self.customer = customer
        self.transactionID = transactionID
        self.productID = productID
        self.reason = reason
        self.statement = statement
    }
}

/// The revoked share of a delivered purchase changed, and assets moved to match it.
public struct PurchaseClawedBack: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseClawedBack }
    /// Whose wallet.
    public var customer: CustomerID
    /// The purchase.
    public var transactionID: TransactionID
    /// The new target: revoked share in milliunits of per cent.
    public var revokedShare: Int64
    /// Which change of the target this is, from 1.
    public var revision: Int64
    /// What was taken from the wallet by this change (negative: given back).
    public var taken: [AssetAmount]
    /// What could not be taken and became a debt (negative: debt cancelled).
    public var owed: [AssetAmount]
    /// The wallet afterwards.
    public var balances: [AssetAmount]
    /// What Apple signed that set the target, as in ``PurchaseGranted/statement``; of a subscription's period or a
    /// restored purchase it may be about another transaction.
    public var statement: VerifiedTransaction?

    /// Composes the message.
    public init(
        customer: CustomerID, transactionID: TransactionID, revokedShare: Int64, revision: Int64,
        taken: [AssetAmount], owed: [AssetAmount], balances: [AssetAmount], statement: VerifiedTransaction? = nil
    ) {
        self.customer = customer
        self.transactionID = transactionID
        self.revokedShare = revokedShare
        self.revision = revision
        self.taken = taken
        self.owed = owed
        self.balances = balances
        self.statement = statement
    }
}

/// Granting asks itself to decide a held purchase anew.
public struct PurchaseRedriveRequested: Message {
    /// Routing key.
    public static var type: MessageType { .purchaseRedriveRequested }
    /// The purchase.
    public var transactionID: TransactionID
    /// Its environment.
    public var environment: StoreEnvironment

    /// Composes the message.
    public init(transactionID: TransactionID, environment: StoreEnvironment) {
        self.transactionID = transactionID
        self.environment = environment
    }
}
