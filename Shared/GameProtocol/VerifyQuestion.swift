import CGameProtocol

/// `C2S_IAPVerify`: a purchase to be verified and delivered.
public struct VerifyQuestion: Sendable, Equatable {
    /// What StoreKit or Unity IAP gave.
    public var receipt: String
    /// The product that was bought.
    public var productID: String

    /// A question.
    public init(receipt: String, productID: String) {
        self.receipt = receipt
        self.productID = productID
    }

    init(_ body: ArraySlice<UInt8>) throws(GameMessageError) {
        let read = body.withUnsafeBufferPointer { iap__c2_s__iapverify__unpack(nil, $0.count, $0.baseAddress) }
        guard let read else { throw .malformed }
        defer { iap__c2_s__iapverify__free_unpacked(read, nil) }
        receipt = try CText.string(read.pointee.receipt)
        productID = try CText.string(read.pointee.product_id)
    }

    func encoded() -> [UInt8] {
        CText.lend([receipt, productID]) { texts in
            var message = Iap__C2SIAPVerify()
            iap__c2_s__iapverify__init(&message)
            message.receipt = texts[0]
            message.product_id = texts[1]
            return [UInt8](unsafeUninitializedCapacity: iap__c2_s__iapverify__get_packed_size(&message)) {
                $1 = iap__c2_s__iapverify__pack(&message, $0.baseAddress)
            }
        }
    }
}
