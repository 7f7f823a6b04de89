import CGameProtocol

/// `S2C_IAPHistory`: a page of the user's purchases, or why there is none.
public struct HistoryAnswer: Sendable, Equatable {
    /// 0: the page is complete; else it is empty.
    public var code: Int32
    /// For the log.
    public var message: String
    /// Newest first.
    public var records: [HistoryRecord]
    /// Seconds; 0 = do not send again by itself.
    public var retryAfter: Int32
    /// Asks for the next page; empty = there is none.
    public var nextCursor: String

    /// An answer.
    public init(
        code: Int32 = 0, message: String = "", records: [HistoryRecord] = [], retryAfter: Int32 = 0,
        nextCursor: String = ""
    ) {
        self.code = code
        self.message = message
        self.records = records
        self.retryAfter = retryAfter
        self.nextCursor = nextCursor
    }

    init(_ body: ArraySlice<UInt8>) throws(GameMessageError) {
        // An empty message has no bytes, and no address.
        let read = [0].withUnsafeBufferPointer { nothing in
            body.withUnsafeBufferPointer {
                iap__s2_c__iaphistory__unpack(nil, $0.count, $0.baseAddress ?? nothing.baseAddress)
            }
        }
        guard let read else { throw .malformed }
        defer { iap__s2_c__iaphistory__free_unpacked(read, nil) }
        code = read.pointee.code
        message = try CText.string(read.pointee.msg)
        retryAfter = read.pointee.retry_after
        nextCursor = try CText.string(read.pointee.next_cursor)
        var records: [HistoryRecord] = []
        for place in 0..<read.pointee.n_records {
            guard let record = read.pointee.records[place]?.pointee else { throw .malformed }
            records.append(try HistoryRecord(record))
        }
        self.records = records
    }

    func encoded() -> [UInt8] {
        CText.lend([message, nextCursor] + records.flatMap { [$0.transactionID, $0.productID] }) { texts in
            var fields = records.enumerated().map { place, record in
                record.fields(texts[2 * place + 2], texts[2 * place + 3])
            }
            return fields.withUnsafeMutableBufferPointer { buffer in
                var pointers: [UnsafeMutablePointer<Iap__IAPRecord>?] = buffer.indices.map { place in
                    buffer.baseAddress.map { $0 + place }
                }
                return pointers.withUnsafeMutableBufferPointer { list in
                    var answer = Iap__S2CIAPHistory()
                    iap__s2_c__iaphistory__init(&answer)
                    answer.n_records = list.count
                    answer.records = list.baseAddress
                    answer.code = code
                    answer.msg = texts[0]
                    answer.retry_after = retryAfter
                    answer.next_cursor = texts[1]
                    return [UInt8](unsafeUninitializedCapacity: iap__s2_c__iaphistory__get_packed_size(&answer)) {
                        $1 = iap__s2_c__iaphistory__pack(&answer, $0.baseAddress)
                    }
                }
            }
        }
    }
}
