public import AppStore
import Crypto
public import Messages

/// From what was verified to what is told: Apple's payloads as the flat bodies of our messages.
extension VerifiedTransaction {
    /// Flattens a transaction; `purchase` holds its indispensable fields.
    public init(_ verified: VerifiedPayload<TransactionPayload>, _ purchase: TransactionPayload.Purchase) {
        let payload = verified.payload
        self.init(
            environment: StoreEnvironment(verified.environment), transactionID: TransactionID(purchase.transactionID),
            originalTransactionID: TransactionID(purchase.originalTransactionID), bundleID: payload.bundleID ?? "",
            productID: ProductID(purchase.productID), productType: purchase.type.rawValue,
            ownership: purchase.ownershipType.rawValue, quantity: payload.quantity,
            purchaseDate: purchase.purchaseDate, signedDate: purchase.signedDate,
            payloadHash: Hex.encode(verified.evidence.payloadSHA256))
        webOrderLineItemID = payload.webOrderLineItemID
        originalPurchaseDate = payload.originalPurchaseDate
        expiresDate = payload.expiresDate
        appAccountToken = payload.appAccountToken.map { "\($0)".lowercased() }
        revocationDate = payload.revocationDate
        revocationReason = payload.revocationReason
        revocationType = payload.revocationType
        revocationPercentage = payload.revocationPercentage
        isUpgraded = payload.isUpgraded
        transactionReason = payload.transactionReason
        price = payload.price
        currency = payload.currency
        storefront = payload.storefront
        subscriptionGroupID = payload.subscriptionGroupIdentifier
        appTransactionID = payload.appTransactionID
    }
}

extension VerifiedRenewal {
    /// Flattens renewal info; nil if it does not say of which subscription it speaks, or when it was signed: then it is
    /// no register that anything could be decided on.
    public init?(_ verified: VerifiedPayload<RenewalInfoPayload>) {
        let payload = verified.payload
        guard let subscription = payload.originalTransactionID, let signedDate = payload.signedDate else { return nil }
        self.init(
            environment: StoreEnvironment(verified.environment), originalTransactionID: TransactionID(subscription),
            signedDate: signedDate, payloadHash: Hex.encode(verified.evidence.payloadSHA256))
        productID = payload.productID.map { ProductID($0) }
        autoRenewProductID = payload.autoRenewProductID.map { ProductID($0) }
        autoRenewStatus = payload.autoRenewStatus
        expirationIntent = payload.expirationIntent
        isInBillingRetryPeriod = payload.isInBillingRetryPeriod
        gracePeriodExpiresDate = payload.gracePeriodExpiresDate
        renewalDate = payload.renewalDate
    }
}

extension StoreEnvironment {
    /// The same in the words of messages.
    public init(_ environment: AppStoreEnvironment) {
        self = environment == .production ? .production : .sandbox
    }
}
