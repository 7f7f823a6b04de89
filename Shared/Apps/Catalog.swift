import Crypto
public import Messages

/// What Granting decides by: assets, products, policies. A value that compares and has a stable digest.
public struct Catalog: Sendable, Equatable {
    /// What an import sends.
    public var definition: CatalogDefinition

    /// Wraps a definition.
    public init(_ definition: CatalogDefinition) {
        self.definition = definition
    }

    /// The product that App Store Connect knows by this id.
    public func product(_ id: ProductID) -> CatalogProduct? {
        definition.products.first { $0.productID == id }
    }

    /// The asset with this id.
    public func asset(_ id: AssetID) -> CatalogAsset? {
        definition.assets.first { $0.asset == id }
    }

    /// The message that brings this catalogue into force.
    ///
    /// - Parameter expectedVersion: the version its author saw in force; 0 = none.
    public func importRequest(app: AppID, actor: String, expectedVersion: Int64) -> CatalogImportRequested {
        CatalogImportRequested(app: app, actor: actor, expectedVersion: expectedVersion, definition: definition)
    }

    /// SHA-256 in hex over everything that has a meaning. Order of assets, products, grants and user lists, and the
    /// spelling of the file, do not matter.
    public var digest: String {
        var text = Canonical()
        text.add("catalog.v1")
        let assets = definition.assets.sorted { $0.asset < $1.asset }
        text.add(assets.count)
        for asset in assets {
            text.add(asset.asset.rawValue)
            text.add(asset.jsonName)
            text.add(asset.insufficientCode.rawValue)
        }
        let products = definition.products.sorted { $0.productID < $1.productID }
        text.add(products.count)
        for product in products { add(product, to: &text) }
        add(definition.policies, to: &text)
        return Hex.encode(SHA256.hash(text.bytes))
    }

    private func add(_ product: CatalogProduct, to text: inout Canonical) {
        text.add(product.code)
        text.add(product.productID.rawValue)
        text.add(product.productType)
        let amounts = product.amounts.sorted { $0.asset < $1.asset }
        text.add(amounts.count)
        for amount in amounts {
            text.add(amount.asset.rawValue)
            text.add(amount.amount)
        }
        text.addOptional(product.entitlement)
        text.addOptional(product.entitlementDays.map(String.init))
        text.add(product.isEnabled ? 1 : 0)
        text.add(product.sort)
        text.addOptional(product.remark)
        if let rewardID = product.rewardID {
            text.add("reward")
            text.add(rewardID)
        }
        guard let starter = product.starter else { return }
        text.add("starter")
        text.add(starter.offer)
        text.add(starter.substitute?.count ?? 0)
        for amount in (starter.substitute ?? []).sorted(by: { $0.asset < $1.asset }) {
            text.add(amount.asset.rawValue)
            text.add(amount.amount)
        }
    }

    private func add(_ policies: CatalogPolicies, to text: inout Canonical) {
        text.add(policies.sandboxAudience.rawValue)
        for users in [policies.reviewers, policies.testers] {
            text.add(users.count)
            for user in users.sorted() { text.add(user.rawValue) }
        }
        text.add(policies.requiresAppAccountToken ? 1 : 0)
        text.add(policies.orderExpiryHours)
        text.addOptional(policies.debtRepaymentShare.map(String.init))
        for limit in [policies.risk?.orders, policies.risk?.spends, policies.risk?.review] { add(limit, to: &text) }
        text.addOptional(policies.consumption.map { $0.preference?.rawValue ?? "none" })
        text.addOptional(policies.consumption.map { $0.isSampleProvided ? "sample" : "none" })
    }

    private func add(_ limit: RiskLimit?, to text: inout Canonical) {
        text.addOptional(limit.map { $0.refunds.map(String.init) ?? "any" })
        let amounts = (limit?.amounts ?? []).sorted { $0.currency < $1.currency }
        text.add(amounts.count)
        for amount in amounts {
            text.add(amount.currency)
            text.add(amount.milliunits)
        }
    }

    /// Bytes in which no two different sequences of fields look alike: every field has its length in front.
    private struct Canonical {
        private(set) var bytes: [UInt8] = []

        mutating func add(_ field: String) {
            bytes.append(contentsOf: "\(field.utf8.count):\(field),".utf8)
        }

        mutating func addOptional(_ field: String?) {
            if let field { add(field) } else { bytes.append(contentsOf: "-,".utf8) }
        }

        mutating func add(_ number: some BinaryInteger) {
            add(String(number))
        }
    }
}
