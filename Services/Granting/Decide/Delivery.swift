import Messages

/// What delivering a purchase to its owner came to.
enum Delivery: Equatable {
    /// In the wallet now.
    case granted(TransactionKey)
    /// A restored non-consumable whose first transaction was delivered before.
    case delivered(by: TransactionKey)
    /// All of it was taken back before it could be delivered.
    case revoked
    /// Not now.
    case held(HeldReason)
}

extension Books {
    /// Delivers a purchase without a grant to `owner`, or finds why not. Facts are appended to `facts`.
    mutating func deliver(
        _ key: TransactionKey, to owner: CustomerID, order: OrderNumber?, isClaimedByCaller: Bool,
        _ submission: Submission, _ facts: inout [Announcement]
    ) -> Delivery {
        guard var purchase = purchases[key] else { return .revoked }
        let statement = purchase.statement
        purchase.owner = owner
        purchase.isClaimedByCaller = isClaimedByCaller
        purchase.submittedOrder = order
        if statement.isNonConsumable, !statement.isFamilyShared {
            let chain = NonConsumableKey(
                environment: key.environment, originalTransactionID: statement.originalTransactionID, customer: owner)
            if let first = nonConsumables[chain] {
                purchase.deliveredBy = first.transactionID
                settle(purchase, nil, &facts)
                catchUp(first, cause: submission.cause, &facts)
                return .delivered(by: first)
            }
        }
        if let period = statement.period, let first = periods[period], first != key {
            guard let grant = grants[first], grant.customer == owner else {
                settle(purchase, .notDeliverable, &facts)
                return .held(.notDeliverable)
            }
            purchase.deliveredBy = first.transactionID
            settle(purchase, nil, &facts)
            catchUp(first, cause: submission.cause, &facts)
            return .delivered(by: first)
        }
        if revokedShareKnown(purchase, owner) == VerifiedTransaction.wholeShare {
            // Nothing is awaited on the order any more: it ends as if the refund had come after the delivery.
            purchase.orderNumber = self.order(order, settledBy: purchase, owner, submission.cause)
            settle(purchase, nil, &facts)
            return .revoked
        }
        if statement.environment == .sandbox, !catalog(of: purchase.app).allowsSandbox(for: customers[owner]?.userID) {
            return hold(key, .sandboxPolicy, for: owner, submission, &facts)
        }
        return grant(purchase, to: owner, order, submission.cause, &facts)
    }

    /// Remembers that a purchase waits for a change of policy, and for whom. Its owner is not bound by that.
    mutating func hold(
        _ key: TransactionKey, _ reason: HeldReason, for beneficiary: CustomerID?, _ submission: Submission,
        _ facts: inout [Announcement]
    ) -> Delivery {
        guard var purchase = purchases[key] else { return .held(reason) }
        if let caller = submission.caller, beneficiary == nil || caller == beneficiary {
            purchase.submitter = caller
            purchase.submittedOrder = submission.orderNumber
        }
        settle(purchase, reason, &facts)
        return .held(reason)
    }

    private func revokedShareKnown(_ purchase: Purchase, _ owner: CustomerID) -> Int64 {
        let statement = purchase.statement
        if let period = statement.period {
            return newestStatement(of: period, ownedBy: owner)?.takenShare ?? statement.takenShare
        }
        guard statement.isNonConsumable,
            let newest = newestStatement(of: statement.originalTransactionID, statement.environment, ownedBy: owner),
            newest.isNewer(than: statement)
        else { return statement.takenShare }
        return newest.revokedShare
    }

    /// The order that a purchase settles, once: the one it settled before, else the one that was named.
    private mutating func order(
        _ order: OrderNumber?, settledBy purchase: Purchase, _ owner: CustomerID, _ cause: MessageID
    ) -> OrderNumber? {
        if let settled = purchase.orderNumber { return settled }
        return order.flatMap {
            isDelivered($0, by: purchase.statement) ? nil : settleOrder($0, purchase.statement, owner, cause)
        }
    }

    private mutating func grant(
        _ purchase: Purchase, to owner: CustomerID, _ order: OrderNumber?, _ cause: MessageID,
        _ facts: inout [Announcement]
    ) -> Delivery {
        let statement = purchase.statement
        let candidates = catalog(of: purchase.app).versions(
            of: statement.productID, purchasedAt: statement.purchaseDate)
        guard let version = candidates.first(where: { obstacle($0.product, statement) == nil }) else {
            let reason = candidates.first.flatMap { obstacle($0.product, statement) } ?? .unknownProduct
            settle(purchase, reason, &facts)
            return .held(reason)
        }
        // Before anything is used up by it. Of the version that decides: no later one makes a second one out of it.
        guard !isOwnedForEver(version.product, by: owner, besides: statement) else {
            settle(purchase, .ownedPermanently, &facts)
            return .held(.ownedPermanently)
        }
        let (amounts, starterUnits): ([AssetAmount], Int64?)
        switch self.amounts(version.product, purchase, owner) {
        case .success(let found): (amounts, starterUnits) = found
        case .failure(let obstacle):
            settle(purchase, obstacle.reason, &facts)
            return .held(obstacle.reason)
        }
        let orderNumber = self.order(order, settledBy: purchase, owner, cause)
        var purchase = purchase
        purchase.orderNumber = orderNumber
        purchase.deliveredBy = statement.transactionID
        settle(purchase, nil, &facts)
        let grant = Grant(
            key: purchase.key, app: purchase.app, customer: owner, productID: statement.productID,
            productVersion: version.version, quantity: statement.quantity, kind: kind(of: statement),
            originalTransactionID: statement.originalTransactionID, orderNumber: orderNumber, cause: cause,
            lineItem: statement.period?.item, starterUnits: starterUnits)
        insert(grant)
        changes.newGrants.append(grant.key)
        credit(amounts, for: grant)
        announce(grant, amounts, purchase, &facts)
        return .granted(grant.key)
    }

    /// Whether an order was delivered by another transaction of the same subscription or chain of restores: a renewal or a
    /// restore is no second purchase on it.
    private func isDelivered(_ order: OrderNumber, by statement: VerifiedTransaction) -> Bool {
        guard let other = orders[order]?.deliveredBy, other != statement.key else { return false }
        return statement.isAutoRenewable
            || statement.isNonConsumable && purchases[other]?.statement.chain == statement.chain
    }

    /// What makes the grant unique. A family member's is their own transaction, and nothing more.
    func kind(of statement: VerifiedTransaction) -> Grant.Kind {
        if statement.isFamilyShared { return .consumable }
        return statement.isNonConsumable ? .nonConsumable : statement.period == nil ? .consumable : .period
    }

    /// Why this product cannot be delivered for this statement. What a family member shares gives an entitlement, never
    /// assets.
    private func obstacle(_ product: CatalogProduct, _ statement: VerifiedTransaction) -> HeldReason? {
        if product.productType != statement.productType { return .productTypeMismatch }
        if statement.isFamilyShared, product.entitlement == nil { return .familyShared }
        return product.entitlement == nil && product.amounts.isEmpty ? .notDeliverable : nil
    }

    /// Why nothing is granted now.
    private struct Obstacle: Error { let reason: HeldReason }

    /// What is granted, if it is to be granted, and amount × quantity and every balance after it fit into 64 bits. A
    /// starter offer is used up by that.
    private mutating func amounts(
        _ product: CatalogProduct, _ purchase: Purchase, _ owner: CustomerID
    ) -> Result<([AssetAmount], starterUnits: Int64?), Obstacle> {
        let statement = purchase.statement
        guard !statement.isFamilyShared else { return .success(([], nil)) }
        // Before an offer is used up: with a wallet that is too full nothing is granted.
        let most = (product.amounts + (product.starter?.substitute ?? [])).allSatisfy { unit in
            guard let amount = Amounts.product(unit.amount, statement.quantity) else { return false }
            return !balance(AccountKey(customer: owner, asset: unit.asset)).addingReportingOverflow(amount).overflow
        }
        guard most else { return .failure(Obstacle(reason: .amountOverflow)) }
        guard let starter = product.starter else {
            let amounts = product.amounts.map {
                AssetAmount(asset: $0.asset, amount: Amounts.product($0.amount, statement.quantity) ?? 0)
            }
            return .success((amounts.sorted { $0.asset < $1.asset }, nil))
        }
        switch decideStarter(starter, product, purchase, owner) {
        case .granted(let amounts): return .success((amounts.sorted { $0.asset < $1.asset }, 1))
        case .substituted(let amounts): return .success((amounts.sorted { $0.asset < $1.asset }, 0))
        case .held(let reason): return .failure(Obstacle(reason: reason))
        }
    }

    /// Puts what a purchase gives into its owner's wallet, each asset as a lot and a line of the books.
    mutating func credit(_ amounts: [AssetAmount], for grant: Grant) {
        for part in amounts {
            let lot = Lot(
                key: LotKey(purchase: grant.key, asset: part.asset), customer: grant.customer, amount: part.amount,
                remaining: part.amount)
            insert(lot)
            changes.newLots.append(lot.key)
            _ = post(
                LedgerRow(
                    account: lot.account, direction: .into, amount: part.amount, balanceAfter: 0, source: .purchase,
                    sourceID: "\(grant.key.transactionID)/0", environment: grant.key.environment,
                    remark: "Apple purchase: \(grant.productID)", cause: grant.cause))
        }
    }

    /// The granted fact, and the clawback that follows at once if part of the purchase is already revoked: granted
    /// gross, then taken back by rows of its own, as is what repays a debt.
    private mutating func announce(
        _ grant: Grant, _ amounts: [AssetAmount], _ purchase: Purchase, _ facts: inout [Announcement]
    ) {
        var later: [Announcement] = []
        catchUp(grant.key, cause: grant.cause, &later)
        repay(fromGrant: grant, &later)
        var body = PurchaseGranted(
            customer: grant.customer, transactionID: grant.key.transactionID, productID: grant.productID,
            productVersion: grant.productVersion, quantity: grant.quantity, orderNumber: grant.orderNumber,
            amounts: amounts, revokedShare: grants[grant.key]?.appliedShare ?? 0,
            balances: balances(of: grant.customer), isClaimedByCaller: purchase.isClaimedByCaller)
        body.statement = purchase.statement.withoutAccount
        body.starterUnits = grant.starterUnits
        if let units = grant.starterUnits, units > 0 { body.starterIdentities = identities[grant.customer]?.sorted() }
        body.siblingOf = grant.orderNumber.flatMap { orders[$0]?.siblingOf }
        body.userDigest = customers[grant.customer]?.digest
        facts.append(
            Announcement(body: .granted(body), key: grant.key.description, environment: grant.key.environment))
        facts += later
    }

    /// Stores the outcome for a purchase; a new reason to wait becomes a fact.
    private mutating func settle(_ purchase: Purchase, _ reason: HeldReason?, _ facts: inout [Announcement]) {
        var purchase = purchase
        if let reason, reason != purchase.heldReason { facts.append(held(purchase, reason)) }
        purchase.heldReason = reason
        keep(purchase)
        if reason == nil { bindPeriod(of: purchase) }
    }

    /// The fact that a purchase waits, and for whom.
    func held(_ purchase: Purchase, _ reason: HeldReason) -> Announcement {
        var body = PurchaseHeld(
            customer: purchase.owner, transactionID: purchase.key.transactionID,
            productID: purchase.statement.productID, reason: reason, statement: purchase.statement.withoutAccount)
        body.submitter = purchase.submitter
        body.submittedOrder = purchase.submittedOrder
        body.isClaimedByCaller = purchase.isClaimedByCaller
        body.userDigest = (purchase.owner ?? purchase.submitter).flatMap { customers[$0]?.digest }
        return Announcement(
            body: .held(body), key: purchase.key.description, environment: purchase.key.environment)
    }

    /// Keeps what was decided on a purchase, and what follows from its having an owner.
    mutating func keep(_ purchase: Purchase) {
        purchases[purchase.key] = purchase
        changes.purchases.insert(purchase.key)
        count(purchase)
        let statement = purchase.statement
        guard let owner = purchase.owner, statement.isAutoRenewable else { return }
        let found = SubscriptionOwner(
            customer: owner, since: statement.purchaseDate, transactionID: statement.transactionID)
        if let known = subscriptionOwners[statement.chain], !found.isNewer(than: known) { return }
        subscriptionOwners[statement.chain] = found
    }
}
