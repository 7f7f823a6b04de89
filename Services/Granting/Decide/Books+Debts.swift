import Messages

/// What is owed because a refund found it spent, and how it is paid back.
extension Books {
    /// Pays open debts of an account from lots, at most `budget`: the debts of the lots' environment, in key order, so
    /// that it does not matter which came first. Each payment is a line of the books, and a fact.
    ///
    /// - Parameter payer: the purchase that pays: its grant, or the reversal of its refund, and which revision.
    mutating func payDebts(
        of account: AccountKey, from keys: [LotKey], upTo budget: Int64, payer: (TransactionKey, Int64),
        _ cause: MessageID, _ facts: inout [Announcement]
    ) {
        var budget = budget
        let environment = payer.0.environment
        let open = debts.values.filter {
            $0.open > 0 && $0.customer == account.customer && $0.key.asset == account.asset
                && $0.key.purchase.environment == environment
        }
        for var debt in open.sorted(by: { $0.key.purchase < $1.key.purchase }) where budget > 0 {
            let sourceID = "\(debt.key.purchase.transactionID)/\(payer.0.transactionID)/\(payer.1)"
            let wanted = min(debt.open, budget)
            var rest = wanted
            for key in keys where rest > 0 && lots[key]?.isFrozen == false {
                rest -= draw(rest, from: key, .repayment, sourceID: sourceID, refunded: debt.key.purchase)
            }
            let paid = wanted - rest
            guard paid > 0 else { continue }
            budget -= paid
            debt.settled += paid
            save(debt)
            _ = post(
                LedgerRow(
                    account: account, direction: .out, amount: paid, balanceAfter: 0, source: .repayment,
                    sourceID: sourceID, environment: environment,
                    remark: "Debt repaid: \(debt.key.purchase.transactionID)", cause: cause))
            let body = DebtRepaid(
                customer: account.customer, transactionID: debt.key.purchase.transactionID, asset: account.asset,
                amount: paid, open: debt.open, paidBy: payer.0.transactionID, balance: balance(account))
            facts.append(
                Announcement(
                    body: .debtRepaid(body), key: "\(debt.key.purchase)/\(account.asset)", environment: environment))
        }
    }

    /// Repays a share of what a new grant brought, if the app's policy says so. Reports go on naming the gross grant.
    mutating func repay(fromGrant grant: Grant, _ facts: inout [Announcement]) {
        guard let share = catalog(of: grant.app).debtRepaymentShare else { return }
        for lot in lots(of: grant.key) {
            payDebts(
                of: lot.account, from: [lot.key], upTo: min(Amounts.share(share, of: lot.amount), lot.remaining),
                payer: (grant.key, 0), grant.cause, &facts)
        }
    }

    /// Takes an amount off a purchase's debt because its refund was reversed: first what is still open, then what was
    /// paid, which goes back into the lots that paid it, the last one first. Returns both, and the lots that got some.
    mutating func cancelDebt(
        _ amount: Int64, grantedAs own: Lot, _ sourceID: String, _ cause: MessageID
    ) -> (cancelled: Int64, repaid: Int64, into: [LotKey]) {
        let refunded = own.key.purchase
        guard var debt = debts[own.key] else { return (0, 0, []) }
        let cancelled = min(amount, debt.open)
        debt.amount -= cancelled
        var rest = min(amount - cancelled, debt.settled)
        let repaid = rest
        debt.amount -= repaid
        debt.settled -= repaid
        guard cancelled + repaid > 0 else { return (0, 0, []) }
        save(debt)
        var filled: [LotKey] = []
        for (key, drawn) in drawnLots(by: refunded, own.key.asset, .repayment) where rest > 0 {
            let part = min(rest, drawn)
            refill(part, into: key, .repayment, sourceID: sourceID, refunded: refunded)
            filled.append(key)
            rest -= part
        }
        if repaid > 0 {
            _ = post(
                LedgerRow(
                    account: own.account, direction: .into, amount: repaid, balanceAfter: 0,
                    source: .repaymentReturned, sourceID: sourceID, environment: refunded.environment,
                    remark: "Repaid debt returned: \(refunded.transactionID)", cause: cause))
        }
        return (cancelled, repaid, filled)
    }

    /// Keeps a debt.
    mutating func save(_ debt: Debt) {
        debts[debt.key] = debt
        changes.debts.insert(debt.key)
    }

    /// Notes that a refund could not be taken back in full, for somebody to look at.
    mutating func flagDebt(of grant: Grant, owed: [AssetAmount], _ cause: MessageID, _ facts: inout [Announcement]) {
        guard owed.contains(where: { $0.amount > 0 }) else { return }
        raise(
            RiskFlag(
                key: grant.key, app: grant.app, customer: grant.customer, kind: .debt, revision: grant.revision,
                cause: cause), owed: owed, &facts)
    }

    /// Keeps a flag and says it.
    mutating func raise(_ flag: RiskFlag, owed: [AssetAmount] = [], _ facts: inout [Announcement]) {
        changes.flags.append(flag)
        let body = RiskFlagged(
            customer: flag.customer, kind: flag.kind, transactionID: flag.key.transactionID, revision: flag.revision,
            owed: owed)
        facts.append(
            Announcement(
                body: .riskFlagged(body), key: "\(flag.key)/\(flag.kind.rawValue)", revision: flag.revision,
                environment: flag.key.environment))
    }
}

/// Something about a customer that somebody should look at. Written once.
struct RiskFlag: Sendable, Equatable {
    /// The refunded purchase that raised it.
    var key: TransactionKey
    /// Its app.
    var app: AppID
    /// Whose.
    var customer: CustomerID
    /// What it is.
    var kind: RiskKind
    /// Which change of the purchase's revoked share raised it.
    var revision: Int64
    /// The message that caused it.
    var cause: MessageID
}
