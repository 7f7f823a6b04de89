import Crypto
import JSON

extension SimulatedStore {
    /// The app's receipt on a device of an Apple account, made now, in base64.
    ///
    /// As Apple writes it, it has every purchase that is not finished, and of those that are finished the ones that are
    /// owned for longer: all but consumables. What was refunded as a whole has its date of cancellation.
    public mutating func receipt(
        bundleID: String, appleAccount: String, environment: String
    ) throws(StoreError) -> String {
        guard let authority = signer.authority.receipts else { throw .signing }
        let records = books.records.values.filter {
            $0.appleAccount == appleAccount && $0.environment == environment
                && $0.payload["bundleId"]?.stringValue == bundleID
                && (!$0.isFinished || $0.payload["type"] != "Consumable")
        }
        let isProduction = environment == "Production"
        var receipt = SimulatedReceipt(
            bundleID: bundleID, creationDate: nextDate(after: 0),
            purchases: records.sorted { Self.isOlder($0, $1) }.map(Self.purchase),
            receiptType: isProduction ? "Production" : "ProductionSandbox")
        if isProduction, let number = apps?[bundleID]?.appAppleID { receipt.appItemID = number }
        do {
            return try ReceiptSigner(authority).text(receipt)
        } catch {
            throw .signing
        }
    }

    private static func purchase(_ record: StoreRecord) -> SimulatedReceipt.Purchase {
        let payload = record.payload
        // In milliunits of per cent; without a share a refund is one of all.
        let isCancelled = payload["revocationPercentage"]?.intValue ?? 100_000 == 100_000
        return SimulatedReceipt.Purchase(
            transactionID: record.transactionID, productID: payload["productId"]?.stringValue ?? "",
            purchaseDate: payload["purchaseDate"]?.intValue ?? 0,
            originalTransactionID: payload["originalTransactionId"]?.stringValue,
            quantity: payload["quantity"]?.intValue ?? 1, expiresDate: payload["expiresDate"]?.intValue,
            cancellationDate: isCancelled ? payload["revocationDate"]?.intValue : nil)
    }
}
