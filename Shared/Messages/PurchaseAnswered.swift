/// The verdict on a submitted purchase, sent to whoever waits for it.
public struct PurchaseAnswered: Message {
    /// Routing key of the type; the reply itself is routed by its reply-to.
    public static var type: MessageType { .purchaseAnswered }

    /// How it ended.
    public enum Status: String, Codable, Sendable {
        /// Delivered by this very request (also when this request is delivered again).
        case granted
        /// Delivered before.
        case alreadyGranted = "already_granted"
        /// Not delivered to this caller; `code` says why.
        case refused
        /// Genuine, but not to be delivered now; `code` says why.
        case held
        /// Not decided yet; send it again.
        case pending
    }

    /// How it ended.
    public var status: Status
    /// The stable code of the HTTP answer when not delivered, e.g. `ORDER_NOT_FOUND`.
    public var code: AnswerCode?
    /// A finer, stable reason, e.g. `chain_untrusted`; free of payloads.
    public var reason: String?
    /// Whether the client may finish the StoreKit transaction.
    public var mayFinish: Bool
    /// The purchase, where it may be told.
    public var transactionID: TransactionID?
    /// Of a receipt: all purchases the answer is about.
    public var transactionIDs: [TransactionID]?
    /// What was bought.
    public var productID: ProductID?
    /// The app's number for what the product gave when it was delivered, where its catalogue has such numbers.
    public var rewardID: Int64?
    /// How the entitlement stands that the purchase gave, by everything bought for it once (subscriptions apart); nil if
    /// it gave none.
    public var entitlement: EntitlementState?
    /// What was delivered, before any revoked share.
    public var amounts: [AssetAmount]
    /// Share taken back (milliunits of per cent); 0 usually.
    public var revokedShare: Int64
    /// The caller's wallet.
    public var balances: [AssetAmount]
    /// A security event the gateway must log and count, if this was one.
    public var securityEvent: SecurityEvent?

    /// Composes the answer.
    public init(
        status: Status, code: AnswerCode? = nil, reason: String? = nil, mayFinish: Bool,
        transactionID: TransactionID? = nil, productID: ProductID? = nil, amounts: [AssetAmount] = [],
        revokedShare: Int64 = 0, balances: [AssetAmount] = [], securityEvent: SecurityEvent? = nil
    ) {
        self.status = status
        self.code = code
        self.reason = reason
        self.mayFinish = mayFinish
        self.transactionID = transactionID
        self.productID = productID
        self.amounts = amounts
        self.revokedShare = revokedShare
        self.balances = balances
        self.securityEvent = securityEvent
    }
}

/// Codes a client can act on; docs/protocols lists each with its HTTP status and what to do.
public enum AnswerCode: String, Codable, Sendable, CaseIterable {
    case appleTransactionVerifyFailed = "APPLE_TRANSACTION_VERIFY_FAILED"
    case appleTransactionIDEmpty = "APPLE_TRANSACTION_ID_EMPTY"
    case appleProductIDEmpty = "APPLE_PRODUCT_ID_EMPTY"
    case unknownAppleProductID = "UNKNOWN_APPLE_PRODUCT_ID"
    case orderNotFound = "ORDER_NOT_FOUND"
    case orderUserMismatch = "ORDER_USER_MISMATCH"
    case orderProductMismatch = "ORDER_PRODUCT_MISMATCH"
    case appAccountTokenMismatch = "APP_ACCOUNT_TOKEN_MISMATCH"
    case transactionAlreadyRevoked = "TRANSACTION_ALREADY_REVOKED"
    case transactionAlreadyBound = "TRANSACTION_ALREADY_BOUND_TO_OTHER_USER"
    case sandboxNotAllowed = "SANDBOX_NOT_ALLOWED"
    case alreadyOwned = "ALREADY_OWNED"
    case familySharedNotGranted = "FAMILY_SHARED_NOT_GRANTED"
    case appAccountTokenRequired = "APP_ACCOUNT_TOKEN_REQUIRED"
    case purchasePending = "PURCHASE_PENDING"
    case underReview = "UNDER_REVIEW"
    case orderingRestricted = "ORDERING_RESTRICTED"
    case spendingRestricted = "SPENDING_RESTRICTED"
    case spendConflict = "SPEND_CONFLICT"
    case spendDeadlinePassed = "SPEND_DEADLINE_PASSED"
    case balanceNotEnough = "BALANCE_NOT_ENOUGH"
    case timeNotEnough = "TIME_NOT_ENOUGH"
    case unknownAsset = "UNKNOWN_ASSET"
    case transactionNotFound = "TRANSACTION_NOT_FOUND"
    case paymentProductMismatch = "PAYMENT_PRODUCT_MISMATCH"
    case paymentTransactionInvalid = "PAYMENT_TRANSACTION_INVALID"
    case paymentStarterPackIneligible = "PAYMENT_STARTER_PACK_INELIGIBLE"
}

/// Attempts on somebody else's purchase: logged and counted apart, never with payloads.
public enum SecurityEvent: String, Codable, Sendable, CaseIterable {
    /// The transaction is bound to another user.
    case bindingConflict = "binding_conflict"
    /// The transaction carries another user's token, or another order's.
    case foreignToken = "foreign_token"
    /// The order belongs to another user.
    case foreignOrder = "foreign_order"
    /// Apple signed it for another app.
    case otherApp = "other_app"
    /// The signature, chain or format is not Apple's.
    case forgedEvidence = "forged_evidence"
    /// A sandbox purchase by an ordinary user.
    case sandboxPurchase = "sandbox_purchase"
}
