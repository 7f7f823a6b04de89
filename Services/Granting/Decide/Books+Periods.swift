import Messages

/// The transactions that tell of one period of a subscription. Apple's web order line item names one purchase event, on
/// whatever device and by whatever transaction id it is told: it is credited once, and a refund of any of them is its
/// refund.
extension Books {
    /// The newest statement about any transaction of a period that is a customer's, or may be: nothing proves it another's.
    func newestStatement(of period: PeriodKey, ownedBy customer: CustomerID) -> VerifiedTransaction? {
        var newest: VerifiedTransaction?
        for purchase in purchases.values where purchase.statement.period == period && belongs(purchase, to: customer) {
            if newest.map({ purchase.statement.isNewer(than: $0) }) ?? true { newest = purchase.statement }
        }
        return newest
    }

    /// Whose a period is that a purchase tells of, by what is known of its other transactions. Nil if the purchase is
    /// proven another's.
    func periodOwner(of purchase: Purchase) -> CustomerID? {
        guard let period = purchase.statement.period else { return nil }
        let granted = periods[period].flatMap { grants[$0]?.customer }
        let others = purchases.values.filter { $0.key != purchase.key && $0.statement.period == period }
        guard let owner = granted ?? others.compactMap(\.owner).min(), belongs(purchase, to: owner) else { return nil }
        return owner
    }

    /// Binds what else is known of a purchase's period to its owner: those transactions are delivered by the same grant, or
    /// refunded with it.
    mutating func bindPeriod(of purchase: Purchase) {
        guard let period = purchase.statement.period, let owner = purchase.owner else { return }
        for var other in purchases.values
        where other.key != purchase.key && other.statement.period == period && other.deliveredBy == nil
            && belongs(other, to: owner)
        {
            (other.owner, other.deliveredBy, other.heldReason) = (owner, purchase.deliveredBy, nil)
            keep(other)
        }
    }

    /// Whether a purchase is a customer's, or nobody's that is known.
    private func belongs(_ purchase: Purchase, to customer: CustomerID) -> Bool {
        if let owner = purchase.owner { return owner == customer }
        let token = owner(ofToken: purchase.statement.appAccountToken, in: purchase.app)
        return token.map { $0.customer == customer } ?? true
    }
}
