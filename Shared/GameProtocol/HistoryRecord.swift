import CGameProtocol

/// `IAPRecord`: one purchase of the user.
public struct HistoryRecord: Sendable, Equatable {
    /// Apple's id.
    public var transactionID: String
    /// What was bought.
    public var productID: String
    /// Of the reward, not money.
    public var amount: Int32
    /// Seconds since 1970.
    public var createdAt: Int64
    /// Seconds since 1970; 0 is not refunded.
    public var refundedAt: Int64
    /// Thousandths of a per cent; 100,000 is all of it.
    public var refundedShare: Int32
    /// Bought in Apple's sandbox.
    public var isSandbox: Bool

    /// A record.
    public init(
        transactionID: String, productID: String, amount: Int32, createdAt: Int64, refundedAt: Int64 = 0,
        refundedShare: Int32 = 0, isSandbox: Bool = false
    ) {
        self.transactionID = transactionID
        self.productID = productID
        self.amount = amount
        self.createdAt = createdAt
        self.refundedAt = refundedAt
        self.refundedShare = refundedShare
        self.isSandbox = isSandbox
    }

    init(_ fields: Iap__IAPRecord) throws(GameMessageError) {
        transactionID = try CText.string(fields.transaction_id)
        productID = try CText.string(fields.product_id)
        amount = fields.amount
        createdAt = fields.created_at
        refundedAt = fields.refunded_at
        refundedShare = fields.refunded_share
        isSandbox = fields.sandbox != 0
    }

    /// The C form; the texts are lent by the caller.
    func fields(
        _ transactionID: UnsafeMutablePointer<CChar>?, _ productID: UnsafeMutablePointer<CChar>?
    ) -> Iap__IAPRecord {
        var fields = Iap__IAPRecord()
        iap__iaprecord__init(&fields)
        fields.transaction_id = transactionID
        fields.product_id = productID
        fields.amount = amount
        fields.created_at = createdAt
        fields.refunded_at = refundedAt
        fields.refunded_share = refundedShare
        fields.sandbox = isSandbox ? 1 : 0
        return fields
    }
}
