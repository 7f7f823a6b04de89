import CGameProtocol

/// `C2S_IAPHistory`: the question for the user's purchases, newest first.
public struct HistoryQuestion: Sendable, Equatable {
    /// At most this many; 0 is 50.
    public var limit: Int32
    /// Only purchases before this second since 1970; 0 is the newest.
    public var before: Int64

    /// A question.
    public init(limit: Int32 = 0, before: Int64 = 0) {
        self.limit = limit
        self.before = before
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
        before = read.pointee.before
    }

    func encoded() -> [UInt8] {
        var message = Iap__C2SIAPHistory()
        iap__c2_s__iaphistory__init(&message)
        message.limit = limit
        message.before = before
        return [UInt8](unsafeUninitializedCapacity: iap__c2_s__iaphistory__get_packed_size(&message)) {
            $1 = iap__c2_s__iaphistory__pack(&message, $0.baseAddress)
        }
    }
}
