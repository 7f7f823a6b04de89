/// Verification has a receipt of before StoreKit 2 that it cannot judge itself: Apple's `verifyReceipt` should be asked.
///
/// The receipt is not in the message, which is kept for ever: it waits in Verification's own table, by ``submission``.
public struct ReceiptCheckRequested: Message {
    /// Routing key.
    public static var type: MessageType { .receiptCheckRequested }
    /// The app whose surface was called.
    public var app: AppID
    /// The `purchase.submitted` that brought the receipt.
    public var submission: MessageID
    /// The caller, from the login token.
    public var userID: UserID?
    /// The order the client says it belongs to.
    public var orderNumber: OrderNumber?
    /// Which of the receipt's purchases are meant.
    public var productID: ProductID
    /// Why it could not be judged here, as a stable word; told to the caller if Apple is not asked after all.
    public var reason: String
    /// What else the client says about the purchase.
    public var expectation: PurchaseExpectation?
    /// Who the caller is to starter offers.
    public var identities: [IdentityHash]?
    /// When the client handed the receipt in (ms since 1970): who was erased since is nobody by now.
    public var submittedAt: Int64?

    /// Composes the message for a submission of that id, made at `instant`.
    public init(_ submitted: PurchaseSubmitted, submission: MessageID, at instant: Int64, reason: String) {
        app = submitted.app
        self.submission = submission
        userID = submitted.userID
        orderNumber = submitted.orderNumber
        productID = submitted.productID ?? ProductID("")
        self.reason = reason
        expectation = submitted.expectation
        identities = submitted.identities
        submittedAt = instant
    }
}
