public import JSON

extension SimulatedReceipt {
    /// `Production` or `Sandbox`, as Apple's answer says it.
    public var environment: String { receiptType.hasSuffix("Sandbox") ? "Sandbox" : "Production" }

    /// What Apple's `verifyReceipt` says about it: most numbers are texts, every date is there three times.
    ///
    /// Source: developer.apple.com/documentation/appstorereceipts/responsebody.
    public var answer: JSONObject {
        var receipt: JSONObject = [
            "receipt_type": .string(receiptType), "adam_id": .integer(appItemID), "app_item_id": .integer(appItemID),
            "bundle_id": .string(bundleID), "application_version": "1", "download_id": 0,
            "version_external_identifier": 0, "original_application_version": "1.0",
            "in_app": .array(purchases.map { .object($0.answer) }),
        ]
        receipt.setDate("receipt_creation_date", creationDate)
        receipt.setDate("request_date", creationDate)
        receipt.setDate("original_purchase_date", 1_375_340_400_000)
        return ["status": 0, "environment": .string(environment), "receipt": .object(receipt)]
    }
}

extension SimulatedReceipt.Purchase {
    /// One element of `in_app`.
    var answer: JSONObject {
        var purchase: JSONObject = [
            "quantity": .string(String(quantity)), "product_id": .string(productID),
            "transaction_id": .string(transactionID), "original_transaction_id": .string(originalTransactionID),
            "is_trial_period": "false", "in_app_ownership_type": "PURCHASED",
        ]
        purchase.setDate("purchase_date", purchaseDate)
        purchase.setDate("original_purchase_date", purchaseDate)
        if let expiresDate { purchase.setDate("expires_date", expiresDate) }
        if let cancellationDate {
            purchase.setDate("cancellation_date", cancellationDate)
            purchase.set("cancellation_reason", "0")
        }
        return purchase
    }
}

extension JSONObject {
    fileprivate mutating func setDate(_ name: String, _ milliseconds: Int64) {
        let text = SimulatedReceipt.date(milliseconds).dropLast().replacing("T", with: " ")
        set(name, .string(text + " Etc/GMT"))
        set(name + "_ms", .string(String(milliseconds)))
        set(name + "_pst", .string(text + " America/Los_Angeles"))
    }
}
