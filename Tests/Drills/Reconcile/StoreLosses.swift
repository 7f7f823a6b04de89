import AppStoreSimulation

/// What is lost between Apple and us: purchases nobody hands in, and refunds nobody is told of. Apple's history knows
/// both. Blocking, for one thread.
struct StoreLosses {
    let site: Site
    let filling: MonthFilling
    private let store: RemoteStore

    /// Purchases of one user.
    private static let perUser = 5

    init(_ site: Site, _ filling: MonthFilling) throws {
        self.site = site
        self.filling = filling
        store = try RemoteStore(base: site.simulator)
    }

    /// Purchases of clients that never come back, each on an order, told by Apple or lost; their transaction ids.
    func buy(_ count: Int, account: String, notification: DeliveryPlan) throws -> [String] {
        var bought: [String] = []
        while bought.count < count {
            let user = "\(filling.user(bought.count / Self.perUser))-\(account)"
            var client = try BackendClient(base: site.gateway, token: try site.login.token(user))
            for _ in 0..<min(Self.perUser, count - bought.count) {
                let order = try client.order(Goods.all[bought.count % Goods.all.count].id)
                let request = PurchaseRequest(
                    bundleID: site.bundleID, productID: order.appleProductID, appleAccount: user,
                    appAccountToken: order.appAccountToken, notification: notification)
                guard case .purchased(let purchase) = try store.purchase(request) else {
                    throw Site.Failure(description: "the store waits for an approval that nobody asked for")
                }
                bought.append(purchase.transactionID)
            }
        }
        return bought
    }

    /// Refunds purchases and tells nobody.
    func refund(_ transactions: [String]) throws {
        for id in transactions {
            _ = try store.refund(id, environment: "Production", notification: .never)
        }
    }
}
