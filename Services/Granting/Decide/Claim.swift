import Messages

/// Whose a purchase without a grant is, as far as one submission can tell.
enum Claim: Equatable {
    /// This customer's.
    case owner(CustomerID, order: OrderNumber?, isClaimedByCaller: Bool)
    /// The caller may not have it. Nothing is bound: it stays claimable.
    case refused(AnswerCode, SecurityEvent?)
    /// Nothing proves an owner, and the app's policy lets nobody claim it.
    case tokenRequired
    /// Nobody is there to own it: it waits, claimable.
    case unclaimed
}

extension Books {
    /// Finds the owner: the token's customer; else the order's; else whoever it was bound to; else, of a subscription,
    /// whoever has the period, or the newest one; else the caller, once.
    func claim(_ purchase: Purchase, by submission: Submission) -> Claim {
        let token = owner(ofToken: purchase.statement.appAccountToken, in: purchase.app)
        if let caller = submission.caller, let owner = purchase.owner, owner != caller {
            // The same code as for a foreign token: nobody learns which of the two it was.
            return .refused(.transactionAlreadyBound, .bindingConflict)
        }
        var order: Order?
        if let number = submission.orderNumber {
            guard let found = orders[number], found.app == submission.app else { return .refused(.orderNotFound, nil) }
            if let refusal = mismatch(found, purchase, token, submission.caller ?? purchase.owner) { return refusal }
            order = found
        }
        if let token {
            if let caller = submission.caller, caller != token.customer {
                return .refused(.transactionAlreadyBound, .foreignToken)
            }
            return .owner(token.customer, order: order?.number ?? token.orderNumber, isClaimedByCaller: false)
        }
        if let order { return .owner(order.customer, order: order.number, isClaimedByCaller: false) }
        if let owner = purchase.owner {
            return .owner(owner, order: purchase.submittedOrder, isClaimedByCaller: purchase.isClaimedByCaller)
        }
        let chain = purchase.statement.isAutoRenewable ? subscriptionOwners[purchase.statement.chain] : nil
        if let owner = periodOwner(of: purchase) ?? chain?.customer {
            if let caller = submission.caller, caller != owner {
                return .refused(.transactionAlreadyBound, .bindingConflict)
            }
            return .owner(owner, order: nil, isClaimedByCaller: false)
        }
        guard let caller = submission.caller else { return .unclaimed }
        if catalog(of: purchase.app).requiresToken { return .tokenRequired }
        return .owner(caller, order: nil, isClaimedByCaller: true)
    }

    /// Why an order does not fit a purchase, if it does not.
    private func mismatch(
        _ order: Order, _ purchase: Purchase, _ token: IssuedToken?, _ claimant: CustomerID?
    ) -> Claim? {
        if let claimant, order.customer != claimant { return .refused(.orderUserMismatch, .foreignOrder) }
        if order.productID != purchase.statement.productID { return .refused(.orderProductMismatch, nil) }
        guard let signed = purchase.statement.appAccountToken, let issued = order.token, signed != issued else {
            return nil
        }
        let isForeign = token.map { $0.customer != order.customer } ?? false
        return .refused(.appAccountTokenMismatch, isForeign ? .foreignToken : nil)
    }
}
