import Messages

@testable import Granting

/// What happens in one schedule: who does what, of what kind the purchases are, and what breaks. A seed makes it.
struct Story {
    /// Something a person, a server or Apple does.
    struct Event {
        /// When, in ms from the beginning.
        var at: Int64
        var action: Action
        /// For traces.
        var name: String
    }

    /// What they do.
    enum Action {
        case buy(VerifiedTransaction, user: UserID?, order: OrderNumber?)
        case tell(NotificationVerified)
        case order(OrderRequested)
        case spend(SpendRequested)
        case importCatalog(CatalogImportRequested)
    }

    static let app = AppID("cloudpc")
    static let coins = AssetID("DANBING")
    static let minutes = AssetID("MINUTES")
    static let coins60 = ProductID("com.example.coins60")
    static let bundle = ProductID("com.example.bundle")
    /// In no catalogue before the import.
    static let late = ProductID("com.example.late")
    /// The beginning of virtual time (ms since 1970).
    static let beginning: Int64 = 1_780_000_000_000

    /// What products grant.
    static let amounts: [ProductID: [AssetAmount]] = [
        coins60: [AssetAmount(asset: coins, amount: 60)],
        bundle: [AssetAmount(asset: coins, amount: 100), AssetAmount(asset: minutes, amount: 30)],
        late: [AssetAmount(asset: coins, amount: 40)],
    ]

    var users: [UserID] = []
    private(set) var events: [Event] = []
    /// Whether the balances at the end follow from Apple's statements alone.
    private(set) var commutes = false
    private var dice: Dice
    private var orders: [(number: OrderNumber, token: String, product: ProductID)] = []
    private var span: Int64

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        span = [20, 100, 400, 3_000][dice.roll(4)]
        users = (0..<(1 + dice.roll(3))).map { UserID(["alice", "bob", "carol"][$0]) }
        commutes = dice.chance(25)
        let count = 2 + dice.roll(6)
        if !commutes { for _ in 0..<dice.roll(3) { addOrder() } }
        while events.count < count { addPurchase() }
        if !commutes { for _ in 0..<dice.roll(count) { addSpend() } }
        if commutes || dice.chance(25) { addImport() }
    }

    /// Without some events, to make a failure small.
    mutating func keep(only wanted: [Bool]) {
        events = zip(events, wanted).filter(\.1).map(\.0)
        commutes = commutes && events.contains { if case .importCatalog = $0.action { true } else { false } }
    }

    /// The catalogue at the beginning, and after the import.
    static func definition(withLate: Bool) -> CatalogDefinition {
        func product(_ id: ProductID) -> CatalogProduct {
            CatalogProduct(
                code: id.rawValue, productID: id, productType: "Consumable", amounts: amounts[id] ?? [],
                isEnabled: true, sort: 1)
        }
        return CatalogDefinition(
            assets: [
                CatalogAsset(asset: coins, jsonName: "danbing", insufficientCode: .balanceNotEnough),
                CatalogAsset(asset: minutes, jsonName: "timeMinutes", insufficientCode: .timeNotEnough),
            ],
            products: ([coins60, bundle] + (withLate ? [late] : [])).map(product),
            policies: CatalogPolicies(
                sandboxAudience: withLate ? .everybody : .listed, reviewers: [], testers: [UserID("alice")],
                requiresAppAccountToken: false, orderExpiryHours: 24))
    }

    private mutating func add(_ action: Action, _ name: String) {
        events.append(Event(at: Int64(dice.roll(Int(span))), action: action, name: name))
    }

    private mutating func addOrder() {
        let number = OrderNumber("IAP2026060\(orders.count + 1)")
        let product = dice.pick([Self.coins60, Self.bundle])
        let user = dice.pick(users)
        let token = "7000000\(orders.count)-0000-4000-8000-000000000000"
        orders.append((number, token, product))
        add(
            .order(
                OrderRequested(
                    app: Self.app, userID: user, productID: product, orderNumber: number, appAccountToken: token)),
            "\(user) orders \(number)")
    }

    /// A statement about one of few transactions: what never changes about one follows from its number.
    private mutating func addPurchase() {
        let id = 1 + dice.roll(4)
        let product = [Self.coins60, Self.bundle, Self.coins60, Self.late][id - 1]
        let isSandbox = id == 3 && !commutes
        let signed = Int64(dice.roll(4))
        var statement = VerifiedTransaction(
            environment: isSandbox ? .sandbox : .production, transactionID: TransactionID("200\(id)"),
            originalTransactionID: TransactionID("200\(id)"), bundleID: "com.example.cloudpc", productID: product,
            productType: "Consumable", ownership: "PURCHASED", quantity: Int64(1 + id % 2),
            purchaseDate: Self.beginning - 1_000, signedDate: Self.beginning + signed,
            payloadHash: "0\(dice.roll(3))")
        let share = [nil, nil, 0, 40_000, 100_000, 25_000][dice.roll(6)].map { Int64($0) }
        if let share {
            statement.revocationDate = Self.beginning + signed
            statement.revocationPercentage = share
        }
        if id <= orders.count, dice.chance(70) { statement.appAccountToken = orders[id - 1].token }
        if dice.chance(20) { return addNotifications(of: statement, share) }
        let user = commutes ? users[id % users.count] : dice.pick(users)
        let named = orders.isEmpty || !dice.chance(30) ? nil : dice.pick(orders).number
        let isFed = dice.chance(30)
        let caller = isFed ? nil : user
        let text = "200\(id) signed +\(signed) \(share.map { "revoked \($0)" } ?? "")"
        add(.buy(statement, user: caller, order: isFed ? nil : named), "\(caller?.rawValue ?? "Apple") \(text)")
    }

    /// Apple tells it, now and then under several UUIDs.
    private mutating func addNotifications(of statement: VerifiedTransaction, _ share: Int64?) {
        let types: [AppleNotificationType] =
            (share ?? 0) > 0 ? [.refund] : [.oneTimeCharge, .refundReversed, .refundDeclined, .consumptionRequest]
        let type = dice.pick(types)
        for _ in 0...dice.roll(3) {
            var notification = NotificationVerified(
                app: Self.app, environment: statement.environment, notificationUUID: dice.uuid(),
                notificationType: type.rawValue, signedDate: statement.signedDate)
            notification.transaction = statement
            add(
                .tell(notification),
                "Apple tells \(type.rawValue) \(statement.transactionID) +\(statement.signedDate - Self.beginning) "
                    + (share.map { "revoked \($0)" } ?? ""))
        }
    }

    private mutating func addSpend() {
        let user = dice.pick(users)
        let (id, amount) = ("spend-\(dice.roll(3))", Int64([10, 50, 50, 90][dice.roll(4)]))
        let deadline = dice.chance(20) ? Self.beginning + Int64(dice.roll(Int(span) * 2)) : Int64.max
        add(
            .spend(
                SpendRequested(
                    app: Self.app, userID: user, asset: Self.coins, amount: amount, sourceID: id, deadline: deadline)),
            "\(user) spends \(amount) as \(id)")
    }

    private mutating func addImport() {
        add(
            .importCatalog(
                CatalogImportRequested(
                    app: Self.app, actor: "operator", expectedVersion: 1, definition: Self.definition(withLate: true))),
            "the catalogue gets its late product")
    }
}
