import Messages
import Testing

@testable import Granting

@Suite struct CatalogImportTests {
    private func request(_ definition: CatalogDefinition, version: Int64 = 0, actor: String = "op")
        -> CatalogImportRequested
    {
        CatalogImportRequested(app: Shop.app, actor: actor, expectedVersion: version, definition: definition)
    }

    private func inForce(_ definition: CatalogDefinition, version: Int64 = 1) -> Catalog {
        Catalog(version: version, definition: CatalogImport.effective(definition, after: nil), history: [:])
    }

    @Test func `a first import brings everything into force`() {
        guard case .accepted(let change) = CatalogImport.decide(request(Shop.definition()), on: .none) else {
            Issue.record("refused")
            return
        }
        #expect(change.version == 1 && change.products.count == Shop.products.count && change.changesPolicies)
    }

    @Test func `the same definition in another order changes nothing`() {
        var definition = Shop.definition()
        definition.products.reverse()
        definition.assets.reverse()
        #expect(CatalogImport.decide(request(definition, version: 1), on: inForce(Shop.definition())) == .unchanged)
    }

    @Test func `only changed products get a version, and unnamed ones are disabled, not forgotten`() {
        let kept = Shop.product(Shop.coins60, [(Shop.coins, 60)])
        let changed = Shop.product(Shop.bundle, [(Shop.coins, 101)])
        let current = inForce(
            Shop.definition(products: [
                kept, Shop.product(Shop.bundle, [(Shop.coins, 100)]), Shop.product(Shop.huge, [(Shop.coins, 7)]),
            ]))
        let new = request(Shop.definition(products: [kept, changed]), version: 1)
        guard case .accepted(let change) = CatalogImport.decide(new, on: current) else {
            Issue.record("refused")
            return
        }
        #expect(Set(change.products.map(\.productID)) == [Shop.bundle, Shop.huge])
        #expect(change.definition.products.first { $0.productID == Shop.huge }?.isEnabled == false)
        #expect(change.definition.products.first { $0.productID == Shop.huge }?.amounts.map(\.amount) == [7])
        #expect(!change.changesPolicies)
    }

    @Test func `another version in force refuses the import`() {
        guard case .refused(let problems) = CatalogImport.decide(request(Shop.definition(), version: 3), on: .none)
        else {
            Issue.record("accepted")
            return
        }
        #expect(problems.count == 1 && problems[0].contains("version 0"))
    }

    @Test func `every problem is named at once and nothing comes into force`() {
        var definition = Shop.definition(products: [
            Shop.product(Shop.coins60, [(Shop.coins, 0), (AssetID("GOLD"), 1)]),
            Shop.product(Shop.coins60, [(Shop.coins, 1)], type: "Toy"), Shop.product(ProductID(""), []),
        ])
        definition.policies.orderExpiryHours = 0
        definition.assets.append(definition.assets[0])
        guard case .refused(let problems) = CatalogImport.decide(request(definition, actor: ""), on: .none) else {
            Issue.record("accepted")
            return
        }
        for expected in [
            "actor", "orderExpiryHours", "asset DANBING is defined twice", "must be at least 1, not 0",
            "asset GOLD is not defined", "\"Toy\"", "product id pyy_danbing_60 is defined twice",
            "two enabled products have the code", "product 3: the product id is empty", "grants nothing",
        ] {
            #expect(problems.contains { $0.contains(expected) }, "\(expected) in \(problems)")
        }
    }

    @Test func `an asset that wallets may hold cannot be removed`() {
        var definition = Shop.definition(products: [])
        definition.assets.removeLast()
        guard
            case .refused(let problems) = CatalogImport.decide(
                request(definition, version: 1), on: inForce(Shop.definition()))
        else {
            Issue.record("accepted")
            return
        }
        #expect(problems == ["asset TIME_MINUTES is missing: wallets may hold it, so it cannot be removed"])
    }
}
