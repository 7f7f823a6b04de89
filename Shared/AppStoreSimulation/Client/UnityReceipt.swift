import JSON

/// What Unity IAP gives as the receipt of a purchase.
public enum UnityReceipt {
    /// Unity's JSON around Apple's receipt, of the purchase with this transaction id.
    public static func wrap(_ payload: String, transactionID: String) -> String {
        let object: JSONObject = [
            "Store": "AppleAppStore", "TransactionID": .string(transactionID), "Payload": .string(payload),
        ]
        return String(decoding: JSONWriter.write(object), as: UTF8.self)
    }
}
