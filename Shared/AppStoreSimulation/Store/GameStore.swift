import JSON

/// The store as a game with Unity IAP sees it: StoreKit, and the receipt of the device.
///
/// Blocking, for one thread.
public protocol GameStore: StoreAccess {
    /// `appStoreReceiptURL`, refreshed: the receipt in base64.
    func receipt(bundleID: String, appleAccount: String, environment: String) throws(StoreError) -> String
}

extension LocalStore: GameStore {
    /// The receipt of the device.
    public func receipt(bundleID: String, appleAccount: String, environment: String) throws(StoreError) -> String {
        try store.receipt(bundleID: bundleID, appleAccount: appleAccount, environment: environment)
    }
}

extension RemoteStore: GameStore {
    /// The receipt of the device.
    public func receipt(bundleID: String, appleAccount: String, environment: String) throws(StoreError) -> String {
        let query = [("bundleId", bundleID), ("appleAccount", appleAccount), ("environment", environment)]
            .map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let body = try send("GET", "/simulator/receipts?" + query, nil)
        guard let receipt = body["receipt"]?.stringValue else {
            throw .refused(status: 200, code: "store.no_receipt")
        }
        return receipt
    }
}
