import Messages
import YAML

/// Reads the `policies` of an app's file.
struct PoliciesSection {
    let root: YAMLMapping
    let problems: YAMLProblems

    /// A year in hours; an order older than that has no use.
    private static let longestExpiry: Int64 = 8_760
    /// A day: an order is made moments before the purchase; the label only tidies lists.
    private static let usualExpiry: Int64 = 24
    /// Milliunits of a per cent.
    private static let perCent: Int64 = 1_000
    /// A limit above a thousand refunds in 30 days would be a mistake in the file.
    private static let mostRefunds: Int64 = 1_000
    /// A billion of any currency's units; with milliunits it stays far inside 64 bits.
    private static let mostMoney: Int64 = 1_000_000_000

    /// Without a `policies` section the careful values hold: sandbox purchases for listed users, of whom there are none.
    func read() -> CatalogPolicies {
        let section = root.optionalMapping("policies")
        let audience = section?.optionalChoice("sandbox", SandboxAudience.allCases.map { ($0.rawValue, $0) })
        let reviewers = section?.optionalTexts("reviewers", NameRule.userID.text, NameRule.userID.isValid) ?? []
        let testers = section?.optionalTexts("testers", NameRule.userID.text, NameRule.userID.isValid) ?? []
        let isTokenRequired = section?.bool("requireAppAccountToken", absent: false) ?? false
        let expiry = section?.optionalInt64("orderExpiryHours", in: 1...Self.longestExpiry)
        let share = section.flatMap(repayment)
        let risk = section?.optionalMapping("risk").map(self.risk)
        let consumption = section.flatMap(self.consumption)
        section?.finish()
        return CatalogPolicies(
            sandboxAudience: audience ?? .listed, reviewers: reviewers.map { UserID($0.text) },
            testers: testers.map { UserID($0.text) }, requiresAppAccountToken: isTokenRequired,
            orderExpiryHours: expiry ?? Self.usualExpiry, debtRepaymentShare: share, risk: risk,
            consumption: consumption)
    }

    /// `consumption: never` (or nothing), or `consumption: answer` with what the app would rather have.
    private func consumption(_ section: YAMLMapping) -> ConsumptionPolicy? {
        let isAnswered = section.optionalChoice("consumption", [("never", false), ("answer", true)]) ?? false
        let preference = section.optionalChoice("refundPreference", Self.preferences)
        let hasSample = section.optionalNode("sampleContent") != nil
        let isSampleProvided = section.bool("sampleContent", absent: false)
        if !isAnswered, preference != nil || hasSample {
            problems.add("refundPreference and sampleContent belong to consumption: answer", at: section.position)
        }
        return isAnswered ? ConsumptionPolicy(preference: preference ?? nil, isSampleProvided: isSampleProvided) : nil
    }

    /// The file's words.
    private static let preferences: [(name: String, value: RefundPreference?)] = [
        ("none", nil), ("decline", .decline), ("grantFull", .grantFull), ("grantProrated", .grantProrated),
    ]

    /// `debts: keep` (or nothing), or `debts: repay` with the per cent of each grant.
    private func repayment(_ section: YAMLMapping) -> Int64? {
        let repays = section.optionalChoice("debts", [("keep", false), ("repay", true)]) ?? false
        let percent = section.optionalInt64("repayPercent", in: 1...100)
        if repays != (percent != nil) {
            problems.add("repayPercent belongs to debts: repay, and must be given there", at: section.position)
        }
        return repays ? percent.map { $0 * Self.perCent } : nil
    }

    private func risk(_ section: YAMLMapping) -> RiskPolicy {
        defer { section.finish() }
        return RiskPolicy(
            orders: section.optionalMapping("refuseOrders").map(limit),
            spends: section.optionalMapping("refuseSpends").map(limit),
            review: section.optionalMapping("review").map(limit))
    }

    private func limit(_ section: YAMLMapping) -> RiskLimit {
        let refunds = section.optionalInt64("refunds", in: 1...Self.mostRefunds)
        var amounts: [MoneyAmount] = []
        for node in section.optionalItems("amounts") {
            guard let entry = YAMLMapping(node, problems) else { continue }
            let currency = entry.text("currency", NameRule.currency.text, NameRule.currency.isValid)
            let amount = entry.int64("amount", in: 1...Self.mostMoney)
            entry.finish()
            guard let currency, let amount else { continue }
            if amounts.contains(where: { $0.currency == currency.text }) {
                problems.add("amounts: currency \(currency.text) is given twice", at: currency.position)
            }
            amounts.append(MoneyAmount(currency: currency.text, milliunits: amount * 1_000))
        }
        if refunds == nil, amounts.isEmpty {
            problems.add("a limit needs refunds, amounts, or both", at: section.position)
        }
        section.finish()
        return RiskLimit(refunds: refunds, amounts: amounts)
    }
}
