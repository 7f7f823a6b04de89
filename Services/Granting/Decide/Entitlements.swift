import Messages

/// What gives a user an entitlement: a delivered purchase of a product that names one, as its newest statement tells.
struct EntitlingPurchase: Sendable, Equatable {
    /// What Apple signed.
    var statement: VerifiedTransaction
    /// The entitlement, by the catalogue version that decided.
    var entitlement: String
    /// How long one unit lasts; nil: for ever. Not used for subscriptions, which Apple dates.
    var days: Int64?
    /// The share that was taken back (milliunits of per cent).
    var share: Int64
}

/// Who may use what, at an instant: a pure function of purchases, renewal infos and the time.
enum Entitlements {
    /// Milliseconds of a day.
    static let day: Int64 = 86_400_000

    /// One state for each entitlement and environment, sorted.
    static func states(
        of purchases: [EntitlingPurchase], renewals: [VerifiedRenewal], at now: Int64
    ) -> [EntitlementState] {
        struct Key: Hashable {
            var environment: StoreEnvironment
            var entitlement: String
        }
        var infos: [TransactionKey: VerifiedRenewal] = [:]
        for info in renewals {
            infos[TransactionKey(environment: info.environment, transactionID: info.originalTransactionID)] = info
        }
        let chains = Dictionary(grouping: purchases.filter { $0.statement.isAutoRenewable }, by: \.statement.chain)
        let groups = Dictionary(grouping: purchases) {
            Key(environment: $0.statement.environment, entitlement: $0.entitlement)
        }
        var states: [EntitlementState] = []
        for (_, group) in groups {
            var candidates = [bought(group.filter { !$0.statement.isAutoRenewable }, now)].compactMap { $0 }
            for chain in Set(group.filter { $0.statement.isAutoRenewable }.map(\.statement.chain)) {
                let periods = group.filter { $0.statement.isAutoRenewable && $0.statement.chain == chain }
                let subscription = Subscription(
                    periods: periods, starts: (chains[chain] ?? []).map(\.statement.purchaseDate).sorted(),
                    renewal: infos[chain])
                if let state = subscription.state(at: now) { candidates.append(state) }
            }
            if let best = candidates.max(by: isLess) { states.append(best) }
        }
        return states.sorted { ($0.name, $0.environment) < ($1.name, $1.environment) }
    }

    /// Bought once: for ever, or for a while. Times follow each other in the order of purchase; a refunded share takes its
    /// part of the time, rounded in the customer's favour.
    private static func bought(_ purchases: [EntitlingPurchase], _ now: Int64) -> EntitlementState? {
        var end: Int64 = 0
        var best: EntitlementState?
        for purchase in purchases.sorted(by: { $0.statement.wasBought(before: $1.statement) }) {
            let statement = purchase.statement
            var state = EntitlementState(
                name: purchase.entitlement, environment: statement.environment, isActive: false, status: .revoked,
                productID: statement.productID)
            if purchase.share < VerifiedTransaction.wholeShare {
                if let days = purchase.days {
                    let whole = saturated(saturated(days, Self.day), max(statement.quantity, 1))
                    let length = whole - Amounts.share(purchase.share, of: whole)
                    end = sum(max(end, statement.purchaseDate), length)
                    state.until = end
                    state.isActive = now < end
                } else {
                    state.isActive = true
                }
                state.status = state.isActive ? .active : .expired
            }
            if best.map({ !isLess(state, $0) }) ?? true { best = state }
        }
        return best
    }

    /// Which of two states is worse for the user: inactive before active, then the earlier end.
    static func isLess(_ left: EntitlementState, _ right: EntitlementState) -> Bool {
        func end(_ state: EntitlementState) -> Int64 { state.until ?? (state.isActive ? .max : .min) }
        return left.isActive == right.isActive ? end(left) < end(right) : right.isActive
    }

    private static func saturated(_ left: Int64, _ right: Int64) -> Int64 {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : product
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

/// One subscription's periods of one entitlement.
///
/// A period ends at its `expiresDate`, which an extension moves; a refund or a family's end cuts it at the revocation, an
/// upgrade at the start of the period that replaces it. After the last one comes the grace period, if Apple grants one.
struct Subscription {
    /// The periods that give the entitlement.
    var periods: [EntitlingPurchase]
    /// When the periods of the whole subscription begin, whatever they give; sorted.
    var starts: [Int64]
    /// The newest renewal info.
    var renewal: VerifiedRenewal?

    /// What it gives at an instant; nil without periods.
    func state(at now: Int64) -> EntitlementState? {
        guard
            let last = periods.max(by: {
                (end($0), $0.statement.purchaseDate) < (end($1), $1.statement.purchaseDate)
            })
        else { return nil }
        let statement = last.statement
        let paidUntil = end(last)
        var state = EntitlementState(
            name: last.entitlement, environment: statement.environment, isActive: now < paidUntil, status: .active,
            productID: statement.productID)
        state.until = paidUntil
        state.willRenew = renewal?.autoRenewStatus.map { $0 == 1 }
        state.renewsAs = renewal?.autoRenewProductID
        guard now >= paidUntil else { return state }
        if isCut(last) {
            state.status = statement.isUpgraded == true ? .expired : .revoked
            return state
        }
        if let grace = renewal?.gracePeriodExpiresDate, grace > paidUntil, now < grace {
            (state.isActive, state.status, state.until) = (true, .gracePeriod, grace)
            return state
        }
        state.status = renewal?.isInBillingRetryPeriod == true ? .billingRetry : .expired
        state.expirationIntent = renewal?.expirationIntent
        return state
    }

    /// When a period's access ends (ms since 1970).
    private func end(_ period: EntitlingPurchase) -> Int64 {
        let statement = period.statement
        var end = statement.expiresDate ?? statement.purchaseDate
        if statement.isUpgraded == true {
            if let next = starts.first(where: { $0 > statement.purchaseDate }) { end = min(end, next) }
        } else if let revoked = statement.revocationDate {
            end = min(end, revoked)
        }
        return end
    }

    private func isCut(_ period: EntitlingPurchase) -> Bool {
        end(period) < (period.statement.expiresDate ?? .min) || period.statement.isUpgraded == true
    }
}
