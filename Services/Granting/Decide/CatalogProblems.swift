import Messages

/// What is wrong with a catalogue, all of it at once, so that an operator corrects a file once.
enum CatalogProblems {
    /// Apple's product types.
    static let productTypes: Set<String> = [
        "Consumable", "Non-Consumable", "Non-Renewing Subscription", "Auto-Renewable Subscription",
    ]
    /// Bytes of a name at most: it is part of index keys, which hold 2.7 kB, and of JSON answers.
    static let longestName = 200
    /// Products at most: a catalogue travels in one message and is kept in memory.
    static let mostProducts = 10_000
    /// A year: an order that is older says nothing to anybody.
    static let longestExpiryHours: Int64 = 8_760
    /// Codes a client expects when it has too little.
    static let insufficientCodes: Set<AnswerCode> = [.balanceNotEnough, .timeNotEnough]

    /// The problems of an import, a sentence each; empty when it is fine.
    static func find(in request: CatalogImportRequested, keeping current: CatalogDefinition?) -> [String] {
        let definition = request.definition
        var problems: [String] = []
        if !isName(request.actor) { problems.append("the actor must be named, in at most \(longestName) bytes") }
        let hours = definition.policies.orderExpiryHours
        if hours < 1 || hours > longestExpiryHours {
            problems.append("orderExpiryHours must be 1 to \(longestExpiryHours), not \(hours)")
        }
        if let share = definition.policies.debtRepaymentShare, share < 1 || share > VerifiedTransaction.wholeShare {
            problems.append("debtRepaymentShare must be 1 to \(VerifiedTransaction.wholeShare), not \(share)")
        }
        problems += self.problems(of: definition.policies.risk)
        let users = definition.policies.reviewers + definition.policies.testers
        if !users.allSatisfy({ isName($0.rawValue) }) { problems.append("a reviewer or tester has no usable user id") }
        problems += assets(definition, keeping: current)
        problems += products(definition)
        return problems
    }

    private static func problems(of risk: RiskPolicy?) -> [String] {
        [risk?.orders, risk?.spends, risk?.review].compactMap { $0 }.flatMap { limit -> [String] in
            var problems: [String] = []
            if let refunds = limit.refunds, refunds < 1 {
                problems.append("a limit of \(refunds) refunds says nothing")
            }
            if limit.amounts.contains(where: { $0.milliunits < 1 || $0.currency.isEmpty }) {
                problems.append("a limit's amount must be at least 1 milliunit of a currency")
            }
            if limit.refunds == nil, limit.amounts.isEmpty { problems.append("a limit needs refunds or amounts") }
            return problems
        }
    }

    private static func assets(_ definition: CatalogDefinition, keeping current: CatalogDefinition?) -> [String] {
        var problems: [String] = []
        for asset in definition.assets {
            if !isName(asset.asset.rawValue) { problems.append("an asset has no usable id") }
            if !isName(asset.jsonName) { problems.append("asset \(asset.asset) has no usable JSON name") }
            if !insufficientCodes.contains(asset.insufficientCode) {
                problems.append("asset \(asset.asset): \(asset.insufficientCode.rawValue) does not mean \"too little\"")
            }
        }
        problems += repeated(definition.assets.map(\.asset.rawValue)).map { "asset \($0) is defined twice" }
        problems += repeated(definition.assets.map(\.jsonName)).map { "two assets have the JSON name \($0)" }
        let named = Set(definition.assets.map(\.asset))
        for old in current?.assets ?? [] where !named.contains(old.asset) {
            problems.append("asset \(old.asset) is missing: wallets may hold it, so it cannot be removed")
        }
        return problems
    }

    private static func products(_ definition: CatalogDefinition) -> [String] {
        var problems: [String] = []
        if definition.products.count > mostProducts { problems.append("more than \(mostProducts) products") }
        let assets = Set(definition.assets.map(\.asset))
        for (index, product) in definition.products.enumerated() {
            let name = product.productID.rawValue.isEmpty ? "product \(index + 1)" : "product \(product.productID)"
            problems += self.problems(of: product, assets).map { "\(name): \($0)" }
        }
        problems += repeated(definition.products.map(\.productID.rawValue)).map { "product id \($0) is defined twice" }
        let onSale = definition.products.filter(\.isEnabled)
        problems += repeated(onSale.map(\.code)).map { "two enabled products have the code \($0)" }
        return problems
    }

    private static func problems(of product: CatalogProduct, _ assets: Set<AssetID>) -> [String] {
        var problems: [String] = []
        if !isName(product.productID.rawValue) { problems.append("the product id is empty or too long") }
        if !isName(product.code) { problems.append("the code is empty or too long") }
        if !productTypes.contains(product.productType) {
            problems.append("\"\(product.productType)\" is none of Apple's product types")
        }
        for part in product.amounts {
            if part.amount <= 0 {
                problems.append("the amount of \(part.asset) must be at least 1, not \(part.amount)")
            }
            if !assets.contains(part.asset) { problems.append("asset \(part.asset) is not defined") }
        }
        problems += repeated(product.amounts.map(\.asset.rawValue)).map { "asset \($0) is granted twice" }
        if product.amounts.isEmpty, product.entitlement == nil { problems.append("it grants nothing") }
        if let entitlement = product.entitlement, !isName(entitlement) {
            problems.append("the entitlement's name is empty or too long")
        }
        if let days = product.entitlementDays {
            if product.entitlement == nil { problems.append("entitlementDays without an entitlement") }
            if days <= 0 { problems.append("entitlementDays must be at least 1, not \(days)") }
        }
        if let reward = product.rewardID, reward <= 0 { problems.append("rewardID must be at least 1, not \(reward)") }
        if let starter = product.starter {
            if !isName(starter.offer) { problems.append("the starter offer's name is empty or too long") }
            if product.productType != "Consumable" { problems.append("a starter offer is for consumables") }
            for part in starter.substitute ?? [] where part.amount <= 0 || !assets.contains(part.asset) {
                problems.append("the substitute of \(part.asset) must be at least 1 of a defined asset")
            }
            if starter.substitute?.isEmpty ?? false { problems.append("the substitute grants nothing") }
            problems += repeated((starter.substitute ?? []).map(\.asset.rawValue)).map {
                "asset \($0) is twice in the substitute"
            }
        }
        if let remark = product.remark, remark.utf8.contains(0) { problems.append("the remark contains a NUL") }
        return problems
    }

    private static func repeated(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        var twice: Set<String> = []
        for name in names where !seen.insert(name).inserted { twice.insert(name) }
        return twice.sorted()
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= longestName && !text.utf8.contains(0)
    }
}
