import CGameProtocol

/// `S2C_IAPVerify`: what became of a purchase.
public struct VerifyAnswer: Sendable, Equatable {
    /// 0 is delivered, now or before.
    public var code: Int32
    /// For the log.
    public var message: String
    /// Of the product; 0 if the catalogue has none.
    public var rewardID: Int32
    /// Of the question.
    public var productID: String
    /// Whether StoreKit's transaction may be finished.
    public var finish: Bool
    /// Delivered by this answer, all transactions together.
    public var amount: Int64
    /// Of that asset afterwards.
    public var balance: Int64
    /// Which transactions the answer is about.
    public var transactionIDs: [String]
    /// Seconds; 0 = do not send again.
    public var retryAfter: Int32

    /// An answer.
    public init(
        code: Int32, message: String = "", rewardID: Int32 = 0, productID: String = "", finish: Bool = false,
        amount: Int64 = 0, balance: Int64 = 0, transactionIDs: [String] = [], retryAfter: Int32 = 0
    ) {
        self.code = code
        self.message = message
        self.rewardID = rewardID
        self.productID = productID
        self.finish = finish
        self.amount = amount
        self.balance = balance
        self.transactionIDs = transactionIDs
        self.retryAfter = retryAfter
    }

    init(_ body: ArraySlice<UInt8>) throws(GameMessageError) {
        let read = body.withUnsafeBufferPointer { iap__s2_c__iapverify__unpack(nil, $0.count, $0.baseAddress) }
        guard let read else { throw .malformed }
        defer { iap__s2_c__iapverify__free_unpacked(read, nil) }
        let fields = read.pointee
        code = fields.code
        message = try CText.string(fields.msg)
        rewardID = fields.reward_id
        productID = try CText.string(fields.product_id)
        finish = fields.finish != 0
        amount = fields.amount
        balance = fields.balance
        var ids: [String] = []
        for place in 0..<fields.n_transaction_ids { ids.append(try CText.string(fields.transaction_ids[place])) }
        transactionIDs = ids
        retryAfter = fields.retry_after
    }

    func encoded() -> [UInt8] {
        CText.lend([message, productID] + transactionIDs) { texts in
            var ids = Array(texts.dropFirst(2))
            return ids.withUnsafeMutableBufferPointer { ids in
                var fields = Iap__S2CIAPVerify()
                iap__s2_c__iapverify__init(&fields)
                fields.code = code
                fields.msg = texts[0]
                fields.reward_id = rewardID
                fields.product_id = texts[1]
                fields.finish = finish ? 1 : 0
                fields.amount = amount
                fields.balance = balance
                fields.n_transaction_ids = ids.count
                fields.transaction_ids = ids.baseAddress
                fields.retry_after = retryAfter
                return [UInt8](unsafeUninitializedCapacity: iap__s2_c__iapverify__get_packed_size(&fields)) {
                    $1 = iap__s2_c__iapverify__pack(&fields, $0.baseAddress)
                }
            }
        }
    }
}
