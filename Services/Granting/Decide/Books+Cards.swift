import Messages

/// Cards: entitlements that are bought, for a while or for ever. (Subscriptions are Apple's to date, and no cards.)
///
/// Cards for a while add up: whoever has one is extended by the next. One that is owned for ever adds up to nothing: a
/// second one that was paid is held for support, and delivered once the first is taken back. What is owned is read from
/// the grants, so it cannot be out of step with them.
extension Books {
    /// Whether a customer owns for ever, by another purchase, what this product would give for ever. What a family member
    /// shares is not theirs: it ends when the sharing does, so it neither counts nor is refused.
    func isOwnedForEver(_ product: CatalogProduct, by owner: CustomerID, besides statement: VerifiedTransaction) -> Bool
    {
        guard let entitlement = product.entitlement, product.isPermanent, !statement.isFamilyShared else {
            return false
        }
        return cards(of: owner, entitlement, statement.environment).contains { card in
            card.days == nil && card.share < VerifiedTransaction.wholeShare && card.statement.key != statement.key
                && !card.statement.isFamilyShared
        }
    }

    /// How an entitlement that a purchase gave stands by all the cards of it together, this moment; nil if the purchase
    /// gave none, or its time is Apple's to tell.
    func entitlement(boughtBy grant: Grant) -> EntitlementState? {
        guard let product = catalog(of: grant.app).product(grant.productID, version: grant.productVersion),
            let entitlement = product.entitlement, !product.isAutoRenewable
        else { return nil }
        return Entitlements.states(
            of: cards(of: grant.customer, entitlement, grant.key.environment), renewals: [], at: now
        ).first
    }

    /// A purchase of a card was taken back: what waits because of it is decided anew, the first bought first. One of them
    /// is delivered, and the others go on waiting.
    mutating func deliverWaiting(after refunded: Grant, _ cause: MessageID, _ facts: inout [Announcement]) {
        let waiting = purchases.values.filter {
            $0.heldReason == .ownedPermanently && $0.owner == refunded.customer
                && $0.key.environment == refunded.key.environment
        }.map(\.statement)
        for statement in waiting.sorted(by: { $0.wasBought(before: $1) }) {
            guard let purchase = purchases[statement.key] else { continue }
            let submission = Submission(
                cause: cause, app: purchase.app, caller: nil, orderNumber: nil, transaction: statement)
            _ = deliver(
                statement.key, to: refunded.customer, order: purchase.submittedOrder,
                isClaimedByCaller: purchase.isClaimedByCaller, submission, &facts)
        }
    }

    /// The cards of an entitlement that were delivered to a customer; one that was swept is none any more.
    private func cards(
        of customer: CustomerID, _ entitlement: String, _ environment: StoreEnvironment
    ) -> [EntitlingPurchase] {
        grants.values.compactMap { grant in
            guard grant.customer == customer, grant.key.environment == environment, !grant.isSwept,
                let product = catalog(of: grant.app).product(grant.productID, version: grant.productVersion),
                product.entitlement == entitlement, !product.isAutoRenewable,
                let statement = purchases[grant.key]?.statement
            else { return nil }
            return EntitlingPurchase(
                statement: statement, entitlement: entitlement, days: product.entitlementDays, share: grant.appliedShare
            )
        }
    }
}

extension CatalogProduct {
    /// Whether Apple renews it and tells its periods.
    var isAutoRenewable: Bool { productType == "Auto-Renewable Subscription" }

    /// Whether what it gives never ends: a second one would give nothing.
    var isPermanent: Bool { entitlement != nil && entitlementDays == nil && !isAutoRenewable }
}

extension VerifiedTransaction {
    /// The order in which purchases follow each other.
    func wasBought(before other: VerifiedTransaction) -> Bool {
        (purchaseDate, transactionID) < (other.purchaseDate, other.transactionID)
    }
}
