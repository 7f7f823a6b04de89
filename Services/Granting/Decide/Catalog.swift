import Messages

/// An app's catalogue in force, with what its products granted in the past.
struct Catalog: Sendable {
    /// The version in force; 0 = none yet.
    var version: Int64
    /// Everything in force, disabled products included; nil if nothing was ever imported.
    let definition: CatalogDefinition?
    /// Every version of every product, oldest first.
    let history: [ProductID: [ProductVersion]]
    /// The starter offers that any product ever belonged to, sorted.
    let offers: [String]
    /// The products that ever gave an entitlement, subscriptions apart, by the entitlement.
    private let cards: [String: Set<ProductID>]
    private let sandboxUsers: Set<UserID>
    private let assets: [AssetID: CatalogAsset]

    /// Of an app that never imported anything.
    static let none = Catalog(version: 0, definition: nil, history: [:])

    /// Composes the catalogue and its look-up tables.
    init(version: Int64, definition: CatalogDefinition?, history: [ProductID: [ProductVersion]]) {
        self.version = version
        self.definition = definition
        self.history = history
        let products = history.values.joined().map(\.product)
        offers = Set(products.compactMap(\.starter?.offer)).sorted()
        var cards: [String: Set<ProductID>] = [:]
        for product in products where !product.isAutoRenewable {
            if let entitlement = product.entitlement { cards[entitlement, default: []].insert(product.productID) }
        }
        self.cards = cards
        let policies = definition?.policies
        sandboxUsers = Set((policies?.reviewers ?? []) + (policies?.testers ?? []))
        var assets: [AssetID: CatalogAsset] = [:]
        for asset in definition?.assets ?? [] { assets[asset.asset] = asset }
        self.assets = assets
    }

    /// What a purchase of that date may grant, best first: the version in force then, after it the later ones, so that a
    /// product imported late, or corrected because it could not be delivered as it was defined, is still delivered.
    /// Empty if the catalogue has never known the product.
    func versions(of id: ProductID, purchasedAt date: Int64) -> ArraySlice<ProductVersion> {
        let versions = history[id] ?? []
        return versions[(versions.lastIndex { $0.effectiveFrom <= date } ?? 0)...]
    }

    /// What a product granted by one version; nil if that version did not bring it.
    func product(_ id: ProductID, version: Int64) -> CatalogProduct? {
        history[id]?.first { $0.version == version }?.product
    }

    /// The cards whose purchases add up with those of a product, itself included; empty if it is no card.
    func cards(alike id: ProductID) -> Set<ProductID> {
        (history[id] ?? []).compactMap(\.product.entitlement).reduce(into: []) { $0.formUnion(cards[$1] ?? []) }
    }

    /// With the type that the catalogue knows, where a receipt does not tell it.
    func typed(_ transaction: VerifiedTransaction) -> VerifiedTransaction {
        guard transaction.productType.isEmpty, let product = history[transaction.productID]?.last?.product else {
            return transaction
        }
        var copy = transaction
        copy.productType = product.productType
        return copy
    }

    /// The product as it is sold now, if it is.
    func productOnSale(_ id: ProductID) -> CatalogProduct? {
        guard let product = history[id]?.last?.product, product.isEnabled else { return nil }
        return product
    }

    /// The app's definition of an asset.
    func asset(_ id: AssetID) -> CatalogAsset? { assets[id] }

    /// Whether a sandbox purchase may be granted to this user; an erased one is on no list.
    func allowsSandbox(for user: UserID?) -> Bool {
        switch definition?.policies.sandboxAudience {
        case .everybody: true
        case .listed: user.map { sandboxUsers.contains($0) } ?? false
        case .nobody, nil: false
        }
    }

    /// Whether a purchase without a known token may not be claimed by its caller.
    var requiresToken: Bool { definition?.policies.requiresAppAccountToken ?? false }

    /// The share of a grant that repays debts (milliunits of per cent); nil: debts are kept.
    var debtRepaymentShare: Int64? { definition?.policies.debtRepaymentShare }

    /// What many refunds lead to.
    var risk: RiskPolicy? { definition?.policies.risk }

    /// Hours until a new order's label becomes "expired"; a day before anything else is configured.
    var orderExpiryHours: Int64 { definition?.policies.orderExpiryHours ?? 24 }
}
