import Messages

/// Putting back what facts say of purchases without a grant of their own, of frozen lots and of consent.
extension Books {
    /// A purchase waits, for its owner or for whoever handed it in.
    mutating func restore(_ body: PurchaseHeld, _ fact: StreamedFact) throws(Misfit) {
        guard let statement = body.statement else {
            throw Misfit(reason: "an older version said it, without Apple's statement: have it sent again")
        }
        var purchase = adopted(statement, fact)
        if purchase.deliveredBy == nil {
            purchase.owner = body.customer ?? purchase.owner
            purchase.submitter = body.submitter
            purchase.submittedOrder = body.submittedOrder
            purchase.isClaimedByCaller = body.isClaimedByCaller ?? purchase.isClaimedByCaller
            purchase.heldReason = body.reason
        }
        keep(purchase)
    }

    /// A purchase is nobody's, was refunded before it was delivered, or is delivered by another's grant.
    mutating func restore(_ body: PurchaseNoted, _ fact: StreamedFact) throws(Misfit) {
        let statement = body.statement
        guard fact.header.environment == statement.environment, statement.transactionID == body.transactionID else {
            throw Misfit(reason: "its statement is about another purchase")
        }
        var purchase = adopted(statement, fact)
        // Told the other way round: what was decided later is here.
        guard purchase.deliveredBy == nil else { return keep(purchase) }
        if let first = body.deliveredBy {
            let key = TransactionKey(environment: statement.environment, transactionID: first)
            guard grants[key] != nil else { throw Misfit(reason: "the grant that delivers it is not here") }
        }
        if let number = body.orderNumber, let customer = body.customer {
            try settle(number, siblingOf: body.siblingOf, of: customer, statement, fact)
        }
        purchase.owner = body.customer
        purchase.isClaimedByCaller = body.isClaimedByCaller
        purchase.orderNumber = body.orderNumber
        purchase.submittedOrder = body.submittedOrder
        purchase.heldReason = nil
        purchase.deliveredBy = body.deliveredBy
        keep(purchase)
    }

    /// What is left of a purchase may not be spent.
    mutating func restore(_ body: PurchaseFrozen, _ fact: StreamedFact) throws(Misfit) {
        guard let environment = fact.header.environment else { throw Misfit(reason: "it names no environment") }
        let key = TransactionKey(environment: environment, transactionID: body.transactionID)
        guard grants[key]?.customer == body.customer else { throw Misfit(reason: "its grant is not here") }
        keep(adopted(body.statement, fact))
        _ = freezeLots(of: key)
    }

    /// A word about consent.
    mutating func restore(_ body: ConsentChanged, _ fact: StreamedFact) throws(Misfit) {
        let before = consents[body.customer]?.revision ?? 0
        guard before + 1 == body.revision else {
            throw Misfit(reason: "it is word \(body.revision) about consent, and \(before) are here")
        }
        let consent = Consent(
            customer: body.customer, revision: body.revision, isGiven: body.isGiven,
            termsVersion: body.termsVersion, requestedAt: body.requestedAt, cause: fact.cause)
        consents[body.customer] = consent
        changes.consents.append(consent)
    }
}
