import Messages

/// What an import would change, line by line, for a person who decides.
enum CatalogDifference {
    /// The lines, sorted by kind and name; empty if nothing changes.
    static func lines(from old: CatalogDefinition?, to new: CatalogDefinition) -> [String] {
        assets(old?.assets ?? [], new.assets) + products(old?.products ?? [], new.products)
            + policies(old?.policies, new.policies)
    }

    private static func assets(_ old: [CatalogAsset], _ new: [CatalogAsset]) -> [String] {
        compare(
            old, new, name: { "asset \($0.asset)" }, removed: { "asset \($0.asset) is gone" },
            describe: { "json \($0.jsonName), \($0.insufficientCode.rawValue)" })
    }

    private static func products(_ old: [CatalogProduct], _ new: [CatalogProduct]) -> [String] {
        // What the file no longer names is disabled already, or will be: paid purchases of it are still delivered.
        let gone = old.filter(\.isEnabled).filter { product in !new.contains { $0.productID == product.productID } }
        let known = old.filter { product in new.contains { $0.productID == product.productID } }
        return compare(
            known, new, name: { "product \($0.productID)" }, removed: { "\($0.productID)" }, describe: describe)
            + gone.map(\.productID).sorted().map { "- product \($0): not in the file, will be disabled" }
    }

    private static func describe(_ product: CatalogProduct) -> String {
        let amounts = product.amounts.map { "\($0.amount) \($0.asset)" }.joined(separator: " + ")
        let days = product.entitlementDays.map { " for \($0) days" } ?? ""
        let entitlement = product.entitlement.map { ", entitlement \($0)\(days)" } ?? ""
        let starter = product.starter.map { starter in
            let instead = (starter.substitute ?? []).map { "\($0.amount) \($0.asset)" }.joined(separator: " + ")
            return ", starter offer \(starter.offer), else \(instead.isEmpty ? "held" : instead)"
        }
        let reward = product.rewardID.map { ", reward \($0)" } ?? ""
        let remark = product.remark.map { ", \"\($0)\"" } ?? ""
        return
            "\(product.code), \(product.productType), \(amounts.isEmpty ? "no amounts" : amounts)\(entitlement)\(starter ?? "")\(reward), "
            + "\(product.isEnabled ? "on sale" : "disabled"), sort \(product.sort)\(remark)"
    }

    private static func policies(_ old: CatalogPolicies?, _ new: CatalogPolicies) -> [String] {
        var lines: [String] = []
        func changed(_ name: String, _ before: String?, _ after: String) {
            if before != after { lines.append("~ policy \(name): \(before ?? "(none)") -> \(after)") }
        }
        changed("sandbox", old?.sandboxAudience.rawValue, new.sandboxAudience.rawValue)
        changed(
            "requireAppAccountToken", old.map { "\($0.requiresAppAccountToken)" }, "\(new.requiresAppAccountToken)")
        changed("orderExpiryHours", old.map { "\($0.orderExpiryHours)" }, "\(new.orderExpiryHours)")
        changed("debts", old.map { debts($0) }, debts(new))
        for (name, limit) in [
            ("risk.refuseOrders", \RiskPolicy.orders), ("risk.refuseSpends", \.spends), ("risk.review", \.review),
        ] {
            changed(name, old.map { describe($0.risk?[keyPath: limit]) }, describe(new.risk?[keyPath: limit]))
        }
        changed("consumption", old.map { consumption($0) }, consumption(new))
        lines += list("reviewer", old?.reviewers ?? [], new.reviewers)
        lines += list("tester", old?.testers ?? [], new.testers)
        return lines
    }

    private static func debts(_ policies: CatalogPolicies) -> String {
        policies.debtRepaymentShare.map { "repay \($0) milliunits of a per cent of each grant" } ?? "keep"
    }

    private static func consumption(_ policies: CatalogPolicies) -> String {
        guard let policy = policies.consumption else { return "never" }
        let preference = policy.preference.map { "prefer \($0.rawValue)" } ?? "no preference"
        return "answer, \(preference), \(policy.isSampleProvided ? "with" : "without") a sample"
    }

    private static func describe(_ limit: RiskLimit?) -> String {
        guard let limit else { return "never" }
        let refunds = limit.refunds.map { ["from \($0) refunds"] } ?? []
        let amounts = limit.amounts.map { "from \($0.milliunits) milliunits of \($0.currency)" }
        return (refunds + amounts).joined(separator: " or ")
    }

    private static func list(_ what: String, _ old: [UserID], _ new: [UserID]) -> [String] {
        Set(new).subtracting(old).sorted().map { "+ \(what) \($0)" }
            + Set(old).subtracting(new).sorted().map { "- \(what) \($0)" }
    }

    private static func compare<Item: Equatable>(
        _ old: [Item], _ new: [Item], name: (Item) -> String, removed: (Item) -> String, describe: (Item) -> String
    ) -> [String] {
        let before = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
        let after = Dictionary(new.map { (name($0), $0) }) { first, _ in first }
        var lines: [String] = []
        for (key, item) in after.sorted(by: { $0.key < $1.key }) {
            guard let earlier = before[key] else {
                lines.append("+ \(key): \(describe(item))")
                continue
            }
            if earlier != item { lines.append("~ \(key): \(describe(earlier)) -> \(describe(item))") }
        }
        for (key, item) in before.sorted(by: { $0.key < $1.key }) where after[key] == nil {
            lines.append("- \(removed(item))")
        }
        return lines
    }
}
