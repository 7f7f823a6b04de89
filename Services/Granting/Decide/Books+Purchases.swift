import Messages

/// The decision on a purchase, check by check.
extension Books {
    /// Decides one verified purchase.
    mutating func decide(_ submission: Submission) -> PurchaseDecision {
        let key = submission.transaction.key
        let before = purchases[key]
        let wasRefunded = before?.isRefundedUndelivered ?? false
        var decision = judge(submission)
        note(key, since: before, submission.cause, &decision.announcements)
        if !wasRefunded, let purchase = purchases[key], purchase.isRefundedUndelivered {
            flagUndelivered(purchase, submission.cause, &decision.announcements)
        }
        return decision
    }

    private mutating func judge(_ submission: Submission) -> PurchaseDecision {
        let key = submission.transaction.key
        let isNews = record(submission)
        var facts: [Announcement] = []
        guard let purchase = purchases[key] else { return PurchaseDecision() }
        remember(submission.identities, of: submission.caller)
        let contradiction = contradiction(submission, purchase)
        if let grantKey = purchase.grantKey, let grant = grants[grantKey] {
            freezeIfTokenIsForeign(purchase, grant, &facts)
            catchUp(grantKey, cause: submission.cause, &facts)
            let answer = contradiction.map { refusal($0.0, $0.1) } ?? answer(submission, grantKey)
            return PurchaseDecision(answer: answer, announcements: facts)
        }
        guard submission.isClaim, contradiction == nil else {
            if isNews || purchase.owner == nil { deliverToOwner(of: purchase, submission, &facts) }
            return PurchaseDecision(answer: contradiction.map { refusal($0.0, $0.1) }, announcements: facts)
        }
        switch claim(purchase, by: submission) {
        case .refused(let code, let event):
            if isNews || purchase.owner == nil { deliverToOwner(of: purchase, submission, &facts) }
            return PurchaseDecision(
                answer: submission.caller.map { _ in refusal(code, event) }, announcements: facts)
        case .unclaimed:
            return PurchaseDecision()
        case .tokenRequired:
            let held = hold(key, .tokenRequired, for: nil, submission, &facts)
            return PurchaseDecision(answer: answer(submission, held), announcements: facts)
        case .owner(let owner, let order, let isClaimedByCaller):
            let delivery = deliver(
                key, to: owner, order: order, isClaimedByCaller: isClaimedByCaller, submission, &facts)
            return PurchaseDecision(answer: answer(submission, delivery), announcements: facts)
        }
    }

    /// Whoever brought the news: a refund reversed lets whoever the purchase is bound to have it, and news of a period
    /// that a subscription's owner has by another transaction are about what that owner has. (Of a transaction first heard
    /// of now the stored statement is this one, so it is no news; but nobody has it yet.)
    private mutating func deliverToOwner(
        of purchase: Purchase, _ submission: Submission, _ facts: inout [Announcement]
    ) {
        guard let owner = purchase.owner ?? periodOwner(of: purchase) else { return }
        _ = deliver(
            purchase.key, to: owner, order: purchase.submittedOrder, isClaimedByCaller: purchase.isClaimedByCaller,
            submission, &facts)
    }

    /// The newest signed statement wins, whatever brought it. Tells whether this one changed anything.
    private mutating func record(_ submission: Submission) -> Bool {
        let key = submission.transaction.key
        if let told = RefundStatement(submission) { changes.refundStatements.append(told) }
        guard var purchase = purchases[key] else {
            var purchase = Purchase(statement: submission.transaction, app: submission.app)
            purchase.firstCause = submission.cause
            purchases[key] = purchase
            changes.purchases.insert(key)
            return true
        }
        let before = purchase
        let isNewer = purchase.adopt(submission.transaction)
        if purchase != before {
            keep(purchase)
            changes.statements.insert(key)
        }
        return isNewer
    }

    /// A signed token of somebody else turned up after the first caller got the purchase: what is left of it stays
    /// where it is, unspendable, until an operator has looked.
    private mutating func freezeIfTokenIsForeign(
        _ purchase: Purchase, _ grant: Grant, _ facts: inout [Announcement]
    ) {
        guard let token = owner(ofToken: purchase.statement.appAccountToken, in: purchase.app),
            token.customer != grant.customer
        else { return }
        guard freezeLots(of: grant.key) else { return }
        let body = PurchaseFrozen(
            customer: grant.customer, transactionID: grant.key.transactionID,
            statement: purchase.statement.withoutAccount)
        facts.append(
            Announcement(body: .frozen(body), key: grant.key.description, environment: grant.key.environment))
    }

    /// What a message changed of a purchase that no other fact tells of: nobody's, refunded before it was delivered, or
    /// delivered by another's grant; or held as before, for somebody else or with a newer statement. A purchase first heard
    /// of by this message has changed.
    private mutating func note(
        _ key: TransactionKey, since before: Purchase?, _ cause: MessageID, _ facts: inout [Announcement]
    ) {
        guard let purchase = purchases[key], purchase.deliveredBy != key.transactionID,
            purchase.firstCause == cause || purchase != before
        else { return }
        if let reason = purchase.heldReason {
            let fact = held(purchase, reason)
            let isTold = facts.contains { if case .held = $0.body { $0.key == fact.key } else { false } }
            if purchase != before, !isTold { facts.append(fact) }
            return
        }
        var body = PurchaseNoted(
            customer: purchase.owner, transactionID: key.transactionID, productID: purchase.statement.productID,
            isClaimedByCaller: purchase.isClaimedByCaller, statement: purchase.statement.withoutAccount)
        body.deliveredBy = purchase.deliveredBy
        body.orderNumber = purchase.orderNumber
        body.siblingOf = purchase.orderNumber.flatMap { orders[$0]?.siblingOf }
        body.submittedOrder = purchase.submittedOrder
        body.userDigest = purchase.owner.flatMap { customers[$0]?.digest }
        facts.append(Announcement(body: .noted(body), key: key.description, environment: key.environment))
    }

    private func answer(_ submission: Submission, _ delivery: Delivery) -> PurchaseAnswered? {
        let statement = submission.transaction
        switch delivery {
        case .granted(let grant), .delivered(by: let grant): return answer(submission, grant)
        case .revoked:
            guard submission.caller != nil else { return nil }
            return PurchaseAnswered(
                status: .refused, code: .transactionAlreadyRevoked, mayFinish: true,
                transactionID: statement.transactionID, productID: statement.productID,
                revokedShare: VerifiedTransaction.wholeShare)
        case .held(let reason):
            guard submission.caller != nil else { return nil }
            return PurchaseAnswered(
                status: .held, code: reason.answerCode, reason: reason.rawValue,
                mayFinish: [.familyShared, .ineligible, .ownedPermanently].contains(reason),
                transactionID: statement.transactionID, productID: statement.productID,
                securityEvent: reason == .sandboxPolicy ? .sandboxPurchase : nil)
        }
    }

    /// The answer from a grant's state: its owner sees it, everybody else learns nothing.
    private func answer(_ submission: Submission, _ key: TransactionKey) -> PurchaseAnswered? {
        guard let caller = submission.caller, let grant = grants[key] else { return nil }
        guard grant.customer == caller else { return refusal(.transactionAlreadyBound, .bindingConflict) }
        let amounts = lots(of: key).map { AssetAmount(asset: $0.key.asset, amount: $0.amount) }
        let isRevoked = revokedShare(of: grant) == VerifiedTransaction.wholeShare
        var answer = PurchaseAnswered(
            status: isRevoked ? .refused : grant.cause == submission.cause ? .granted : .alreadyGranted,
            code: isRevoked ? .transactionAlreadyRevoked : nil, mayFinish: true,
            transactionID: submission.transaction.transactionID, productID: grant.productID, amounts: amounts,
            revokedShare: revokedShare(of: grant), balances: balances(of: caller))
        if !isRevoked {
            answer.rewardID =
                catalog(of: grant.app).product(grant.productID, version: grant.productVersion)?.rewardID
            answer.entitlement = entitlement(boughtBy: grant)
        }
        return answer
    }

    private func refusal(_ code: AnswerCode, _ event: SecurityEvent?) -> PurchaseAnswered {
        PurchaseAnswered(status: .refused, code: code, mayFinish: false, securityEvent: event)
    }
}

extension HeldReason {
    /// The code a client gets while a purchase waits for this reason.
    var answerCode: AnswerCode {
        switch self {
        case .unknownProduct: .unknownAppleProductID
        case .sandboxPolicy: .sandboxNotAllowed
        case .familyShared: .familySharedNotGranted
        case .tokenRequired: .appAccountTokenRequired
        case .ineligible: .paymentStarterPackIneligible
        case .ownedPermanently: .alreadyOwned
        case .identityUnknown: .purchasePending
        case .productTypeMismatch, .amountOverflow, .notDeliverable: .underReview
        }
    }
}
