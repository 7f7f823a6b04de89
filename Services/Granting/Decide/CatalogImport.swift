import Messages

/// The decision on a catalogue import: all of it or nothing.
enum CatalogImport {
    /// What came of it.
    enum Verdict: Equatable {
        /// Why not, a sentence each.
        case refused([String])
        /// It says what is in force already.
        case unchanged
        /// The next version.
        case accepted(Change)
    }

    /// What comes into force.
    struct Change: Equatable {
        /// The new version.
        var version: Int64
        /// All of it, disabled products included, in canonical order.
        var definition: CatalogDefinition
        /// Products whose definition is new or changed.
        var products: [CatalogProduct]
        /// Whether policies changed.
        var changesPolicies: Bool

        /// What `definition` makes of what was in force.
        init(_ version: Int64, _ definition: CatalogDefinition, after current: CatalogDefinition?) {
            let definition = CatalogImport.effective(definition, after: current)
            var known: [ProductID: CatalogProduct] = [:]
            for product in current?.products ?? [] { known[product.productID] = product }
            self.version = version
            self.definition = definition
            products = definition.products.filter { known[$0.productID] != $0 }
            changesPolicies = definition.policies != current?.policies
        }
    }

    /// Decides an import against what is in force.
    static func decide(_ request: CatalogImportRequested, on current: Catalog) -> Verdict {
        var problems = CatalogProblems.find(in: request, keeping: current.definition)
        if request.expectedVersion != current.version {
            problems.insert(
                "version \(current.version) is in force, not \(request.expectedVersion): look at the difference again",
                at: 0)
        }
        guard problems.isEmpty else { return .refused(problems) }
        let change = Change(current.version + 1, request.definition, after: current.definition)
        return change.definition == current.definition ? .unchanged : .accepted(change)
    }

    /// The new definition in canonical order; products it does not name are disabled, never forgotten.
    static func effective(_ new: CatalogDefinition, after old: CatalogDefinition?) -> CatalogDefinition {
        let named = Set(new.products.map(\.productID))
        var products = new.products
        for var product in old?.products ?? [] where !named.contains(product.productID) {
            product.isEnabled = false
            products.append(product)
        }
        for index in products.indices {
            products[index].amounts.sort { $0.asset < $1.asset }
            products[index].starter?.substitute?.sort { $0.asset < $1.asset }
        }
        products.sort { ($0.sort, $0.code, $0.productID) < ($1.sort, $1.code, $1.productID) }
        var policies = new.policies
        policies.reviewers = Set(policies.reviewers).sorted()
        policies.testers = Set(policies.testers).sorted()
        return CatalogDefinition(
            assets: new.assets.sorted { $0.asset < $1.asset }, products: products, policies: policies)
    }

    /// Reasons that may be gone once a catalogue changed: none is a final verdict.
    static let redrivenReasons: [HeldReason] = [
        .unknownProduct, .productTypeMismatch, .notDeliverable, .familyShared, .amountOverflow, .sandboxPolicy,
        .tokenRequired, .ineligible, .identityUnknown, .ownedPermanently,
    ]
}
