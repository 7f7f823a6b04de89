import Messages

/// Spends: decided once, for ever.
extension Books {
    /// Decides a spend. The same id gets the same answer; with another asset or amount it is a conflict and changes
    /// nothing.
    mutating func decide(_ spend: SpendCase) -> SpendDecision {
        let request = spend.request
        let key = SpendKey(customer: spend.customer, sourceID: request.sourceID)
        if let decided = spends[key] {
            guard decided.asset == request.asset, decided.amount == request.amount else {
                return SpendDecision(
                    answer: SpendAnswered(
                        outcome: nil, code: .spendConflict, asset: nil, amount: nil, balanceAfter: nil))
            }
            return SpendDecision(answer: answer(decided))
        }
        let (outcome, code) = verdict(request, spend.customer)
        let account = AccountKey(customer: spend.customer, asset: request.asset)
        if outcome == .spent { take(request.amount, from: account, request.sourceID, spend.cause) }
        let decided = Spend(
            key: key, app: request.app, asset: request.asset, amount: request.amount, outcome: outcome, code: code,
            deadline: request.deadline, balanceAfter: balance(account), cause: spend.cause)
        spends[key] = decided
        changes.spends.append(key)
        let body = SpendDecided(
            customer: spend.customer, sourceID: request.sourceID, asset: request.asset, amount: request.amount,
            outcome: outcome, balanceAfter: decided.balanceAfter, userDigest: customers[spend.customer]?.digest)
        let fact = Announcement(body: .spendDecided(body), key: "\(spend.customer)/\(request.sourceID)")
        return SpendDecision(answer: answer(decided), announcements: [fact])
    }

    private func verdict(_ request: SpendRequested, _ customer: CustomerID) -> (SpendOutcome, AnswerCode?) {
        let catalog = catalog(of: request.app)
        guard let asset = catalog.asset(request.asset) else { return (.unknownAsset, .unknownAsset) }
        guard now <= request.deadline else { return (.deadlinePassed, .spendDeadlinePassed) }
        if reaches(catalog.risk?.spends, customer) { return (.restricted, .spendingRestricted) }
        let account = AccountKey(customer: customer, asset: request.asset)
        return spendable(account) < request.amount ? (.notEnough, asset.insufficientCode) : (.spent, nil)
    }

    /// The balance without frozen lots.
    func spendable(_ account: AccountKey) -> Int64 {
        var sum: Int64 = 0
        for key in lotOrder[account] ?? [] {
            guard let lot = lots[key], !lot.isFrozen else { continue }
            sum = sum.addingReportingOverflow(lot.remaining).overflow ? .max : sum + lot.remaining
        }
        return min(sum, balance(account))
    }

    /// Oldest lots first, production and sandbox alike.
    mutating func take(_ amount: Int64, from account: AccountKey, _ sourceID: String, _ cause: MessageID) {
        var rest = amount
        for key in lotOrder[account] ?? [] where rest > 0 {
            guard lots[key]?.isFrozen == false else { continue }
            rest -= draw(rest, from: key, .spend, sourceID: sourceID)
        }
        _ = post(
            LedgerRow(
                account: account, direction: .out, amount: amount, balanceAfter: 0, source: .usage, sourceID: sourceID,
                cause: cause))
    }

    private func answer(_ spend: Spend) -> SpendAnswered {
        SpendAnswered(
            outcome: spend.outcome, code: spend.code, asset: spend.asset, amount: spend.amount,
            balanceAfter: spend.balanceAfter)
    }
}
