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

    /// A record.
    public init(transactionID: String, productID: String, amount: Int32, createdAt: Int64, refundedAt: Int64 = 0) {
        self.transactionID = transactionID
        self.productID = productID
        self.amount = amount
        self.createdAt = createdAt
        self.refundedAt = refundedAt
    }

    /// Reads `S2C_IAPHistory`.
    static func list(_ body: ArraySlice<UInt8>) throws(GameMessageError) -> [HistoryRecord] {
        if body.isEmpty { return [] }
        let read = body.withUnsafeBufferPointer { iap__s2_c__iaphistory__unpack(nil, $0.count, $0.baseAddress) }
        guard let read else { throw .malformed }
        defer { iap__s2_c__iaphistory__free_unpacked(read, nil) }
        var records: [HistoryRecord] = []
        for place in 0..<read.pointee.n_records {
            guard let record = read.pointee.records[place]?.pointee else { throw .malformed }
            records.append(
                HistoryRecord(
                    transactionID: try CText.string(record.transaction_id),
                    productID: try CText.string(record.product_id), amount: record.amount,
                    createdAt: record.created_at, refundedAt: record.refunded_at))
        }
        return records
    }

    /// The bytes of `S2C_IAPHistory`.
    static func encoded(_ records: [HistoryRecord]) -> [UInt8] {
        CText.lend(records.flatMap { [$0.transactionID, $0.productID] }) { texts in
            var fields = records.enumerated().map { place, record in
                var fields = Iap__IAPRecord()
                iap__iaprecord__init(&fields)
                fields.transaction_id = texts[2 * place]
                fields.product_id = texts[2 * place + 1]
                fields.amount = record.amount
                fields.created_at = record.createdAt
                fields.refunded_at = record.refundedAt
                return fields
            }
            return fields.withUnsafeMutableBufferPointer { buffer in
                var pointers: [UnsafeMutablePointer<Iap__IAPRecord>?] = buffer.indices.map { place in
                    buffer.baseAddress.map { $0 + place }
                }
                return pointers.withUnsafeMutableBufferPointer { list in
                    var message = Iap__S2CIAPHistory()
                    iap__s2_c__iaphistory__init(&message)
                    message.n_records = list.count
                    message.records = list.baseAddress
                    return [UInt8](unsafeUninitializedCapacity: iap__s2_c__iaphistory__get_packed_size(&message)) {
                        $1 = iap__s2_c__iaphistory__pack(&message, $0.baseAddress)
                    }
                }
            }
        }
    }
}
