/// The store as an app sees it: StoreKit. In process (``LocalStore``) or over HTTP (``RemoteStore``).
///
/// Blocking, for one thread.
public protocol StoreAccess: AnyObject {
    /// `Product.purchase(options:)`.
    func purchase(_ request: PurchaseRequest) throws(StoreError) -> PurchaseResult
    /// `Transaction.unfinished`.
    func unfinished(appleAccount: String, environment: String) throws(StoreError) -> [SignedPurchase]
    /// `Transaction.finish()`.
    func finish(_ transactionID: String, environment: String) throws(StoreError)
}

/// A store of the own process.
public final class LocalStore: StoreAccess {
    /// The store, for what apps cannot do (refunds, approvals).
    public var store: SimulatedStore

    /// Wraps `store`.
    public init(_ store: SimulatedStore) { self.store = store }

    /// Buys.
    public func purchase(_ request: PurchaseRequest) throws(StoreError) -> PurchaseResult {
        try store.purchase(request)
    }

    /// What no app has finished.
    public func unfinished(appleAccount: String, environment: String) throws(StoreError) -> [SignedPurchase] {
        try store.unfinished(appleAccount: appleAccount, environment: environment)
    }

    /// Finishes.
    public func finish(_ transactionID: String, environment: String) throws(StoreError) {
        try store.finish(transactionID, environment: environment)
    }
}
