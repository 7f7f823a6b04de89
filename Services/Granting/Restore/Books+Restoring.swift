import Messages

/// Putting back what facts say was decided. Nothing is decided anew: neither catalogue nor policy nor time has a say, and
/// every balance that a fact names must come out, or the fact does not fit.
extension Books {
    /// Why a fact cannot be put back now: something before it is missing.
    struct Misfit: Error, Equatable {
        /// What is missing, without personal data.
        let reason: String
    }

    /// Puts back what one message brought about. Leaves these books half changed when it throws: work on a copy.
    ///
    /// - Parameter repaid: messages whose repayments of debts are in the ledger already.
    mutating func restore(_ facts: [StreamedFact], repaid: Set<MessageID>) throws(Misfit) {
        var granted: (key: TransactionKey, body: PurchaseGranted)?
        var payments: [DebtRepaid] = []
        for fact in facts {
            if case .granted(let body) = fact.body {
                // The balances of a grant are those after the refund and the debts it came with.
                if let granted { try expect(granted.body.balances, of: granted.body.customer) }
                granted = (try restore(body, fact), body)
                continue
            }
            switch fact.body {
            case .orderCreated(let body): try restore(body, fact)
            case .tokenIssued(let body): try restore(body, fact)
            case .held(let body): try restore(body, fact)
            case .noted(let body): try restore(body, fact)
            case .frozen(let body): try restore(body, fact)
            case .consentChanged(let body): try restore(body, fact)
            case .clawedBack(let body): payments += try restore(body, fact)
            case .debtRepaid(let body):
                if let place = payments.firstIndex(where: { $0 == body }) {
                    payments.remove(at: place)
                } else if let granted, granted.key.transactionID == body.paidBy {
                    try repay(body, by: granted.key, fact.cause)
                } else if !repaid.contains(fact.cause) {
                    throw Misfit(reason: "what paid the debt is not here")
                }
            case .riskFlagged(let body): try restore(body, fact)
            case .spendDecided(let body): try restore(body, fact)
            case .swept(let body): try restore(body, fact)
            case .granted, .riskCleared, .catalogImported, .userErased, .userTransferred: break
            }
        }
        if let granted { try expect(granted.body.balances, of: granted.body.customer) }
    }

    // MARK: - Orders and tokens

    private mutating func restore(_ body: OrderCreated, _ fact: StreamedFact) throws(Misfit) {
        let token = TokenKey(app: fact.app, token: body.appAccountToken)
        guard orders[body.orderNumber] == nil, tokens[token] == nil else {
            throw Misfit(reason: "there is an order, or a token, of this number")
        }
        orders[body.orderNumber] = Order(
            number: body.orderNumber, app: fact.app, customer: body.customer, productID: body.productID,
            token: body.appAccountToken, expiresAt: body.expiresAt, cause: fact.cause)
        tokens[token] = IssuedToken(customer: body.customer, orderNumber: body.orderNumber)
        changes.newOrders.append(body.orderNumber)
    }

    private mutating func restore(_ body: TokenIssued, _ fact: StreamedFact) throws(Misfit) {
        let token = TokenKey(app: fact.app, token: body.appAccountToken)
        guard tokens[token] == nil, userTokens[body.customer] == nil else {
            throw Misfit(reason: "the user has another token")
        }
        tokens[token] = IssuedToken(customer: body.customer)
        userTokens[body.customer] = body.appAccountToken
        changes.userTokens.append(token)
    }

    // MARK: - Purchases

    private mutating func restore(_ body: PurchaseGranted, _ fact: StreamedFact) throws(Misfit) -> TransactionKey {
        guard let environment = fact.header.environment else { throw Misfit(reason: "it names no environment") }
        let key = TransactionKey(environment: environment, transactionID: body.transactionID)
        guard grants[key] == nil else { throw Misfit(reason: "it was granted otherwise") }
        guard catalog(of: fact.app).product(body.productID, version: body.productVersion) != nil else {
            throw Misfit(reason: "catalogue version \(body.productVersion) is not here: import it")
        }
        guard let statement = body.statement, statement.key == key else {
            throw Misfit(reason: "an older version said it, without Apple's statement: have it sent again")
        }
        if let number = body.orderNumber {
            try settle(number, siblingOf: body.siblingOf, of: body.customer, statement, fact)
        }
        var purchase = adopted(statement, fact)
        purchase.owner = body.customer
        purchase.isClaimedByCaller = body.isClaimedByCaller
        purchase.orderNumber = body.orderNumber
        purchase.heldReason = nil
        purchase.deliveredBy = body.transactionID
        keep(purchase)
        let grant = Grant(
            key: key, app: fact.app, customer: body.customer, productID: body.productID,
            productVersion: body.productVersion, quantity: body.quantity, kind: kind(of: statement),
            originalTransactionID: statement.originalTransactionID, orderNumber: body.orderNumber, cause: fact.cause,
            lineItem: statement.period?.item, starterUnits: body.starterUnits)
        insert(grant)
        changes.newGrants.append(key)
        credit(body.amounts, for: grant)
        useUp(body, grant)
        return key
    }

    /// The order that was delivered, or the sibling order that stands for a second purchase on it.
    mutating func settle(
        _ number: OrderNumber, siblingOf first: OrderNumber?, of customer: CustomerID, _ statement: VerifiedTransaction,
        _ fact: StreamedFact
    ) throws(Misfit) {
        if var order = orders[number] {
            guard order.deliveredBy == nil || order.deliveredBy == statement.key else {
                throw Misfit(reason: "its order was delivered by another purchase")
            }
            order.deliveredBy = statement.key
            orders[number] = order
            changes.deliveredOrders.insert(number)
            return
        }
        guard let first, orders[first] != nil else { throw Misfit(reason: "its order is not here") }
        orders[number] = Order(
            number: number, app: fact.app, customer: customer, productID: statement.productID, token: nil,
            expiresAt: fact.header.occurredAt, cause: fact.cause, deliveredBy: statement.key, siblingOf: first)
        changes.newOrders.append(number)
    }

    /// A starter offer stays used up, under every hash that the fact knows.
    private mutating func useUp(_ body: PurchaseGranted, _ grant: Grant) {
        for key in starterKeys(of: body, grant.app, grant.key.environment).sorted() where claims[key] == nil {
            claims[key] = StarterClaim(key: key, transaction: grant.key.transactionID, customer: grant.customer)
            changes.claims.append(key)
        }
    }

    /// What a grant has used up.
    func starterKeys(
        of body: PurchaseGranted, _ app: AppID, _ environment: StoreEnvironment
    ) -> Set<StarterKey> {
        let product = catalog(of: app).product(body.productID, version: body.productVersion)
        guard (body.starterUnits ?? 0) > 0, let offer = product?.starter?.offer else { return [] }
        let known = (identities[body.customer] ?? []).union(body.starterIdentities ?? [])
        return Set(
            known.filter(\.isUsable).map {
                StarterKey(app: app, environment: environment, offer: offer, identity: $0)
            })
    }

    /// What is known of a purchase, with a statement that came with a fact.
    mutating func adopted(_ statement: VerifiedTransaction, _ fact: StreamedFact) -> Purchase {
        let submission = Submission(
            cause: fact.cause, app: fact.app, caller: nil, orderNumber: nil, transaction: statement)
        if let told = RefundStatement(submission) { changes.refundStatements.append(told) }
        guard var purchase = purchases[statement.key] else { return Purchase(statement: statement, app: fact.app) }
        let before = purchase
        _ = purchase.adopt(statement)
        if purchase != before { changes.statements.insert(purchase.key) }
        return purchase
    }

    // MARK: - Refunds

    /// Moves what a change of the revoked share moved; the payments of debts that came of it are returned.
    private mutating func restore(_ body: PurchaseClawedBack, _ fact: StreamedFact) throws(Misfit) -> [DebtRepaid] {
        guard let environment = fact.header.environment else { throw Misfit(reason: "it names no environment") }
        let key = TransactionKey(environment: environment, transactionID: body.transactionID)
        guard let grant = grants[key] else { throw Misfit(reason: "its grant is not here") }
        guard grant.revision + 1 == body.revision else {
            throw Misfit(reason: "it is change \(body.revision) of its refund, and \(grant.revision) are here")
        }
        guard let statement = body.statement else {
            throw Misfit(reason: "an older version said it, without Apple's statement: have Apple's history read")
        }
        var purchase = adopted(statement, fact)
        if purchase.owner == nil {
            purchase.owner = grant.customer
            purchase.deliveredBy = key.transactionID
        }
        keep(purchase)
        // Lots that were frozen meanwhile were passed over; which ones is not told, what was taken is.
        guard let moved = move(key, to: body.revokedShare, cause: fact.cause, takingAtMost: body.taken) else {
            throw Misfit(reason: "it changes nothing")
        }
        guard moved.body.taken == body.taken, moved.body.owed == body.owed else {
            throw Misfit(reason: "it took something else")
        }
        try expect(body.balances, of: body.customer)
        return moved.repaid.compactMap { if case .debtRepaid(let payment) = $0.body { payment } else { nil } }
    }

    private mutating func repay(_ body: DebtRepaid, by payer: TransactionKey, _ cause: MessageID) throws(Misfit) {
        let account = AccountKey(customer: body.customer, asset: body.asset)
        var made: [Announcement] = []
        payDebts(
            of: account, from: lots(of: payer).map(\.key).filter { $0.asset == body.asset }, upTo: body.amount,
            payer: (payer, 0), cause, &made)
        guard made.map(\.body) == [.debtRepaid(body)] else { throw Misfit(reason: "the debt is not as it was") }
    }

    private mutating func restore(_ body: RiskFlagged, _ fact: StreamedFact) throws(Misfit) {
        guard let environment = fact.header.environment else { throw Misfit(reason: "it names no environment") }
        let key = TransactionKey(environment: environment, transactionID: body.transactionID)
        guard purchases[key] != nil else { throw Misfit(reason: "its purchase is not here") }
        changes.flags.append(
            RiskFlag(
                key: key, app: fact.app, customer: body.customer, kind: body.kind, revision: body.revision,
                cause: fact.cause))
    }

    private mutating func restore(_ body: SandboxSwept, _ fact: StreamedFact) throws(Misfit) {
        let keys = body.transactionIDs.map { TransactionKey(environment: .sandbox, transactionID: $0) }
        guard keys.allSatisfy({ grants[$0]?.customer == body.customer }) else {
            throw Misfit(reason: "what it swept is not here")
        }
        let made = sweep(keys, body.sweep, fact.cause).announcements.map(\.body)
        guard made == [.swept(body)] else { throw Misfit(reason: "it swept something else") }
    }

    // MARK: - Spends

    private mutating func restore(_ body: SpendDecided, _ fact: StreamedFact) throws(Misfit) {
        let key = SpendKey(customer: body.customer, sourceID: body.sourceID)
        guard spends[key] == nil else { throw Misfit(reason: "this spend was decided otherwise") }
        let account = AccountKey(customer: body.customer, asset: body.asset)
        if body.outcome == .spent {
            let (after, overflow) = balance(account).subtractingReportingOverflow(body.amount)
            guard !overflow, after == body.balanceAfter else {
                throw Misfit(reason: "it left \(body.balanceAfter), and there are \(balance(account)) before it")
            }
            // What was frozen after it may be told before it.
            guard spendable(account) >= body.amount else { throw Misfit(reason: "it took what is frozen here") }
            take(body.amount, from: account, body.sourceID, fact.cause)
        }
        let asset = catalog(of: fact.app).asset(body.asset)
        let code: AnswerCode? =
            switch body.outcome {
            case .spent: nil
            case .notEnough: asset?.insufficientCode ?? .balanceNotEnough
            case .deadlinePassed: .spendDeadlinePassed
            case .restricted: .spendingRestricted
            case .unknownAsset: .unknownAsset
            }
        // Its deadline is told to nobody again; it had passed or not, and that is decided.
        spends[key] = Spend(
            key: key, app: fact.app, asset: body.asset, amount: body.amount, outcome: body.outcome, code: code,
            deadline: fact.header.occurredAt, balanceAfter: body.balanceAfter, cause: fact.cause)
        changes.spends.append(key)
    }

    /// A wallet must be what the fact says it was.
    private func expect(_ told: [AssetAmount], of customer: CustomerID) throws(Misfit) {
        func text(_ amounts: [AssetAmount]) -> String {
            amounts.filter { $0.amount != 0 }.map { "\($0.amount) \($0.asset)" }.joined(separator: ", ")
        }
        let (told, here) = (text(told), text(balances(of: customer)))
        guard told == here else { throw Misfit(reason: "the wallet held [\(told)] after it, and would hold [\(here)]") }
    }
}
