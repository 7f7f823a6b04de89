import Messages

/// The only ways in which amounts move. Each keeps Σ ledger = balance = Σ remaining.
extension Books {
    /// Moves an account's balance and writes the line that explains it. False, with nothing changed, if the balance
    /// would leave 0…2^63-1.
    mutating func post(_ row: LedgerRow) -> Bool {
        let signed = row.direction == .into ? row.amount : -row.amount
        let (balance, overflow) = self.balance(row.account).addingReportingOverflow(signed)
        guard !overflow, balance >= 0 else { return false }
        var account = wallets[row.account.customer]?[row.account.asset] ?? Account()
        account.balance = balance
        account.revision &+= 1
        if row.source == .usage, row.direction == .out {
            let (spent, tooMuch) = account.spent.addingReportingOverflow(row.amount)
            account.spent = tooMuch ? .max : spent
        }
        wallets[row.account.customer, default: [:]][row.account.asset] = account
        var row = row
        row.balanceAfter = balance
        changes.ledger.append(row)
        changes.accounts.insert(row.account)
        return true
    }

    /// Takes up to `limit` from a lot and records it; returns what was taken.
    mutating func draw(
        _ limit: Int64, from key: LotKey, _ kind: Draw.Kind, sourceID: String, refunded: TransactionKey? = nil
    ) -> Int64 {
        guard var lot = lots[key] else { return 0 }
        let amount = min(limit, lot.remaining)
        guard amount > 0 else { return 0 }
        lot.remaining -= amount
        replace(lot)
        record(Draw(lot: key, kind: kind, sourceID: sourceID, refunded: refunded, amount: amount))
        return amount
    }

    /// Puts an amount that a refund, or the payment of its debt, had drawn back into its lot.
    mutating func refill(
        _ amount: Int64, into key: LotKey, _ kind: Draw.Kind, sourceID: String, refunded: TransactionKey
    ) {
        guard amount > 0, var lot = lots[key] else { return }
        lot.remaining += amount
        replace(lot)
        record(Draw(lot: key, kind: kind, sourceID: sourceID, refunded: refunded, amount: -amount))
    }

    /// Marks a purchase's lots as not to be spent, and tells whether any was not yet.
    mutating func freezeLots(of grant: TransactionKey) -> Bool {
        let open = lots(of: grant).filter { !$0.isFrozen }
        for var lot in open {
            lot.isFrozen = true
            replace(lot)
        }
        return !open.isEmpty
    }

    private mutating func replace(_ lot: Lot) {
        lots[lot.key] = lot
        changes.changedLots.insert(lot.key)
    }

    private mutating func record(_ draw: Draw) {
        if let refunded = draw.refunded { clawbackDraws[refunded, default: []].append(draw) }
        changes.draws.append(draw)
    }
}

/// Checked arithmetic on amounts.
enum Amounts {
    /// `amount × quantity` if both are positive and the product fits.
    static func product(_ amount: Int64, _ quantity: Int64) -> Int64? {
        guard amount > 0, quantity > 0 else { return nil }
        let (product, overflow) = amount.multipliedReportingOverflow(by: quantity)
        return overflow ? nil : product
    }

    /// `left + right`, for people: where it does not fit, the largest number.
    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }

    /// The part of `amount` that a revoked share (milliunits of per cent) takes back, rounded down to whole units in the
    /// customer's favour; 100 % is all of it. Calculated in 128 bits, so it never overflows.
    static func share(_ share: Int64, of amount: Int64) -> Int64 {
        let whole = VerifiedTransaction.wholeShare
        guard amount > 0, share > 0 else { return 0 }
        guard share < whole else { return amount }
        return whole.dividingFullWidth(amount.multipliedFullWidth(by: share)).quotient
    }
}
