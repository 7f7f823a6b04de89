import Messages

@testable import Granting

/// Small books with one app, a few customers and products, and short ways to do things to them.
struct Shop {
    static let app = AppID("cloudpc")
    static let otherApp = AppID("points")
    static let coins = AssetID("DANBING")
    static let minutes = AssetID("TIME_MINUTES")
    static let alice = CustomerID("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
    static let bob = CustomerID("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb")
    static let aliceToken = "11111111-1111-4111-8111-111111111111"
    static let bobToken = "22222222-2222-4222-8222-222222222222"
    static let coins60 = ProductID("pyy_danbing_60")
    static let minutes60 = ProductID("pyy_timecard_60m")
    static let bundle = ProductID("pyy_bundle")
    static let forever = ProductID("pyy_forever")
    static let huge = ProductID("pyy_huge")
    static let card = ProductID("pyy_card")
    static let permanent = ProductID("pyy_permanent")
    static let subscription = ProductID("pyy_monthly")
    /// When everything here is bought, and the catalogue in force.
    static let day: Int64 = 1_780_000_000_000

    var books: Books
    private var messages = 0

    init(
        audience: SandboxAudience = .listed, requiresToken: Bool = false, repays: Int64? = nil,
        products: [CatalogProduct] = Shop.products
    ) {
        books = Books(siblingOrderNumber: { statement, _ in OrderNumber("IAP-sibling-\(statement.transactionID)") })
        books.now = Self.day
        books.customers = [
            Self.alice: Customer(id: Self.alice, app: Self.app, userID: UserID("alice")),
            Self.bob: Customer(id: Self.bob, app: Self.app, userID: UserID("bob")),
        ]
        setCatalog(audience: audience, requiresToken: requiresToken, repays: repays, products: products)
    }

    static let products = [
        product(coins60, [(coins, 60)]), product(minutes60, [(minutes, 60)], isEnabled: false),
        product(bundle, [(coins, 100), (minutes, 30)]), product(forever, [(coins, 500)], type: "Non-Consumable"),
        product(huge, [(coins, Int64.max / 2)]), product(card, [], entitlement: "vip"),
        product(permanent, [(coins, 7)], entitlement: "gold"),
        product(subscription, [(coins, 10)], type: "Auto-Renewable Subscription"),
    ]

    static func product(
        _ id: ProductID, _ amounts: [(AssetID, Int64)], type: String = "Consumable", isEnabled: Bool = true,
        entitlement: String? = nil
    ) -> CatalogProduct {
        CatalogProduct(
            code: id.rawValue.uppercased(), productID: id, productType: type,
            amounts: amounts.map { AssetAmount(asset: $0.0, amount: $0.1) }, entitlement: entitlement,
            isEnabled: isEnabled, sort: 1)
    }

    static func definition(
        audience: SandboxAudience = .listed, requiresToken: Bool = false, repays: Int64? = nil,
        products: [CatalogProduct] = Shop.products
    ) -> CatalogDefinition {
        CatalogDefinition(
            assets: [
                CatalogAsset(asset: coins, jsonName: "danbing", insufficientCode: .balanceNotEnough),
                CatalogAsset(asset: minutes, jsonName: "timeMinutes", insufficientCode: .timeNotEnough),
            ], products: products,
            policies: CatalogPolicies(
                sandboxAudience: audience, reviewers: [UserID("reviewer")], testers: [UserID("alice")],
                requiresAppAccountToken: requiresToken, orderExpiryHours: 24, debtRepaymentShare: repays))
    }

    mutating func setCatalog(
        version: Int64 = 1, audience: SandboxAudience = .listed, requiresToken: Bool = false, repays: Int64? = nil,
        products: [CatalogProduct]
    ) {
        var history: [ProductID: [ProductVersion]] = [:]
        for product in products {
            history[product.productID] = [
                ProductVersion(version: version, effectiveFrom: Self.day - 1_000, product: product)
            ]
        }
        books.catalogs[Self.app] = Catalog(
            version: version,
            definition: Self.definition(
                audience: audience, requiresToken: requiresToken, repays: repays, products: products),
            history: history)
    }

    /// A message id that was not used before.
    mutating func message() -> MessageID {
        messages += 1
        return MessageID("message-\(messages)")
    }

    /// Submits a transaction.
    mutating func submit(
        _ transaction: VerifiedTransaction, by caller: CustomerID?, order: OrderNumber? = nil, cause: MessageID? = nil
    ) -> PurchaseDecision {
        books.decide(
            Submission(
                cause: cause ?? message(), app: Self.app, caller: caller, orderNumber: order, transaction: transaction))
    }

    /// Applies a notification.
    mutating func notify(
        _ type: AppleNotificationType, _ transaction: VerifiedTransaction, cause: MessageID? = nil
    ) -> PurchaseDecision {
        books.decide(
            Submission(
                cause: cause ?? message(), app: Self.app, caller: nil, orderNumber: nil, transaction: transaction,
                notification: NotificationSource(uuid: "00000000-0000-4000-8000-00000000000a", type: type)))
    }

    /// Makes an order, as if asked for.
    mutating func order(
        _ number: String, _ product: ProductID = Shop.coins60, by customer: CustomerID = Shop.alice,
        token: String = Shop.aliceToken, cause: MessageID? = nil
    ) -> OrderDecision {
        books.decide(
            OrderCase(
                cause: cause ?? message(), customer: customer,
                request: OrderRequested(
                    app: Self.app, userID: UserID("ignored"), productID: product, orderNumber: OrderNumber(number),
                    appAccountToken: token)))
    }

    /// Asks to spend.
    mutating func spend(
        _ amount: Int64, _ asset: AssetID = Shop.coins, id: String, by customer: CustomerID = Shop.alice,
        deadline: Int64 = .max
    ) -> SpendDecision {
        books.decide(
            SpendCase(
                cause: message(), customer: customer,
                request: SpendRequested(
                    app: Self.app, userID: UserID("ignored"), asset: asset, amount: amount, sourceID: id,
                    deadline: deadline)))
    }

    func balance(_ customer: CustomerID = Shop.alice, _ asset: AssetID = Shop.coins) -> Int64 {
        books.balance(AccountKey(customer: customer, asset: asset))
    }
}

/// A statement Apple could have signed.
func transaction(
    _ id: String, _ product: ProductID = Shop.coins60, environment: StoreEnvironment = .production,
    original: String? = nil, type: String = "Consumable", ownership: String = "PURCHASED", quantity: Int64 = 1,
    token: String? = nil, signed: Int64 = 0, revoked: Int64? = nil, hash: String = "00", bought: Int64 = Shop.day
) -> VerifiedTransaction {
    var transaction = VerifiedTransaction(
        environment: environment, transactionID: TransactionID(id),
        originalTransactionID: TransactionID(original ?? id),
        bundleID: "com.example.cloudpc", productID: product, productType: type, ownership: ownership,
        quantity: quantity, purchaseDate: bought, signedDate: Shop.day + signed, payloadHash: hash)
    transaction.appAccountToken = token
    if let revoked {
        transaction.revocationDate = Shop.day + signed
        transaction.revocationPercentage = revoked
    }
    return transaction
}

extension Books {
    /// What is wrong with the sums, a sentence each: Σ ledger = balance = Σ lots, 0 ≤ remaining ≤ amount, and what a
    /// refund should have taken is what it took plus what is owed.
    var imbalances: [String] {
        var problems: [String] = []
        for (customer, wallet) in wallets {
            for (asset, account) in wallet {
                let key = AccountKey(customer: customer, asset: asset)
                let lines = changes.ledger.filter { $0.account == key }
                let sum = lines.reduce(Int64(0)) { $0 + ($1.direction == .into ? $1.amount : -$1.amount) }
                let left = lots.values.filter { $0.account == key }.reduce(Int64(0)) { $0 + $1.remaining }
                if account.balance < 0 { problems.append("\(key) is negative") }
                if sum != account.balance { problems.append("\(key): ledger \(sum), balance \(account.balance)") }
                if left != account.balance { problems.append("\(key): lots \(left), balance \(account.balance)") }
                if let last = lines.last, last.balanceAfter != account.balance { problems.append("\(key): last line") }
            }
        }
        for lot in lots.values {
            if lot.remaining < 0 || lot.remaining > lot.amount { problems.append("lot \(lot.key) out of range") }
            let drawn = changes.draws.filter { $0.lot == lot.key }.reduce(Int64(0)) { $0 + $1.amount }
            if lot.amount - drawn != lot.remaining { problems.append("lot \(lot.key): draws do not add up") }
            let share = grants[lot.key.purchase]?.appliedShare ?? 0
            let taken = changes.draws.filter {
                $0.refunded == lot.key.purchase && $0.lot.asset == lot.key.asset
            }.reduce(Int64(0)) { $0 + $1.amount }
            if taken + (debts[lot.key]?.open ?? 0) != Amounts.share(share, of: lot.amount) {
                problems.append("lot \(lot.key): taken \(taken) and owed do not make the target")
            }
        }
        return problems
    }
}

extension Announcement {
    /// Whether it only tells that a purchase is known: nothing was delivered, held or taken back.
    var isNote: Bool { if case .noted = body { true } else { false } }
}
