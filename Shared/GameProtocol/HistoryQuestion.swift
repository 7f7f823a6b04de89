import CGameProtocol

/// `C2S_IAPHistory`: the question for the user's purchases, newest first.
public struct HistoryQuestion: Sendable, Equatable {
    /// At most this many; 0 is 50.
    public var limit: Int32
    /// The `nextCursor` of an answer; empty is the newest.
    public var cursor: String

    /// A question.
    public init(limit: Int32 = 0, cursor: String = "") {
        self.limit = limit
        self.cursor = cursor
    }

    init(_ body: ArraySlice<UInt8>) throws(GameMessageError) {
        // An empty message has no bytes, and no address.
        let read = [0].withUnsafeBufferPointer { nothing in
            body.withUnsafeBufferPointer {
                iap__c2_s__iaphistory__unpack(nil, $0.count, $0.baseAddress ?? nothing.baseAddress)
            }
        }
        guard let read else { throw .malformed }
        defer { iap__c2_s__iaphistory__free_unpacked(read, nil) }
        limit = read.pointee.limit
        cursor = try CText.string(read.pointee.cursor)
    }

    func encoded() -> [UInt8] {
        CText.lend([cursor]) { texts in
            var message = Iap__C2SIAPHistory()
            iap__c2_s__iaphistory__init(&message)
            message.limit = limit
            message.cursor = texts[0]
            return [UInt8](unsafeUninitializedCapacity: iap__c2_s__iaphistory__get_packed_size(&message)) {
                $1 = iap__c2_s__iaphistory__pack(&message, $0.baseAddress)
            }
        }
    }
}
