import JSON

/// What the app itself remembers across restarts: which order a token belongs to, and which purchases wait for delivery.
///
/// StoreKit remembers unfinished transactions too; this file adds the order numbers, which StoreKit does not know.
/// One file, replaced whole at each change.
struct KeptPurchases: Equatable {
    /// A purchase that is not delivered yet.
    struct Purchase: Equatable {
        let transactionID: String
        let environment: String
        /// Nil when none is known, or when the backend said that it does not fit.
        var orderNumber: String?
        let signedTransactionInfo: String
    }

    /// Orders kept at most: older ones have long been bought or forgotten; a purchase without its order is delivered
    /// without one.
    static let ordersLimit = 200

    private(set) var purchases: [Purchase] = []
    private(set) var orders: [BackendClient.Order] = []
    private let path: String

    /// Reads the file at `path`, if there is one.
    init(path: String) throws(StoreError) {
        self.path = path
        guard let bytes = try DurableFile.read(path) else { return }
        do throws(JSONError) {
            let object = try JSONReader.parseObject(bytes)
            orders = try object.readEach("orders") { (order) throws(JSONError) in
                BackendClient.Order(
                    number: try order.string("orderNo"), appleProductID: try order.string("appleProductId"),
                    appAccountToken: try order.string("appAccountToken"))
            }
            purchases = try object.readEach("unfinished") { (purchase) throws(JSONError) in
                Purchase(
                    transactionID: try purchase.string("transactionId"),
                    environment: try purchase.string("environment"),
                    orderNumber: try purchase.optionalString("orderNo"),
                    signedTransactionInfo: try purchase.string("signedTransactionInfo"))
            }
        } catch {
            throw .storage(path: path, problem: "holds no purchases (\(error.description))")
        }
    }

    /// Remembers an order before it is bought with.
    mutating func add(_ order: BackendClient.Order) throws(StoreError) {
        orders.append(order)
        if orders.count > Self.ordersLimit { orders.removeFirst(orders.count - Self.ordersLimit) }
        try save()
    }

    /// Remembers a purchase; one that is known keeps what is known about its order.
    mutating func add(_ purchase: Purchase) throws(StoreError) {
        guard index(of: purchase) == nil else { return }
        purchases.append(purchase)
        try save()
    }

    /// Another time, `purchase` is sent without an order.
    mutating func forgetOrder(of purchase: Purchase) throws(StoreError) {
        guard let index = index(of: purchase) else { return }
        purchases[index].orderNumber = nil
        try save()
    }

    /// `purchase` is delivered and finished.
    mutating func remove(_ purchase: Purchase) throws(StoreError) {
        guard let index = index(of: purchase) else { return }
        purchases.remove(at: index)
        try save()
    }

    /// The order a transaction was bought with, by its token.
    func orderNumber(forToken token: String?) -> String? {
        guard let token = token?.lowercased() else { return nil }
        return orders.last { $0.appAccountToken.lowercased() == token }?.number
    }

    private func index(of purchase: Purchase) -> Int? {
        purchases.firstIndex {
            $0.transactionID == purchase.transactionID && $0.environment == purchase.environment
        }
    }

    private func save() throws(StoreError) {
        let object: JSONObject = [
            "orders": .array(
                orders.map {
                    [
                        "orderNo": .string($0.number), "appleProductId": .string($0.appleProductID),
                        "appAccountToken": .string($0.appAccountToken),
                    ]
                }),
            "unfinished": .array(
                purchases.map {
                    [
                        "transactionId": .string($0.transactionID), "environment": .string($0.environment),
                        "orderNo": $0.orderNumber.map { .string($0) } ?? .null,
                        "signedTransactionInfo": .string($0.signedTransactionInfo),
                    ]
                }),
        ]
        try DurableFile.write(JSONWriter.write(object), to: path)
    }
}
