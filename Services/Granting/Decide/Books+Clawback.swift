import Messages

/// Clawback by target: the revoked share of the newest statement is a target, and each change moves only the difference
/// to what was taken so far. Refund, larger refund, reversal and refund again need no cases of their own.
extension Books {
    /// Makes the wallet reflect the revoked share now known of a grant's purchase.
    ///
    /// Appends the facts if anything changed. A reversal whose amount would overflow the account is left for later: the
    /// difference stays, and the next statement finds it.
    mutating func catchUp(_ key: TransactionKey, cause: MessageID, _ facts: inout [Announcement]) {
        guard let before = grants[key] else { return }
        let target = revokedShare(of: before)
        guard var moved = move(key, to: target, cause: cause), let grant = grants[key] else { return }
        moved.body.statement = decidingStatement(of: grant)?.withoutAccount
        facts.append(
            Announcement(
                body: .clawedBack(moved.body), key: key.description, revision: grant.revision,
                environment: key.environment))
        facts += moved.repaid
        guard target > before.appliedShare else { return }
        defer { if target == VerifiedTransaction.wholeShare { deliverWaiting(after: grant, cause, &facts) } }
        flagDebt(of: grant, owed: moved.body.owed, cause, &facts)
        let flag = RiskFlag(
            key: grant.key, app: grant.app, customer: grant.customer, kind: .review, revision: grant.revision,
            cause: cause)
        flagRefunds(flag, &facts)
    }

    /// What a change of the revoked share moved, and the payments of debts that came of it.
    struct Move {
        var body: PurchaseClawedBack
        var repaid: [Announcement]
    }

    /// Moves what lies between the share that a wallet reflects and another one; nil if that is nothing, or does not fit.
    ///
    /// - Parameter told: how much of each asset a refund is known to have taken: it takes no more, the rest is a debt.
    mutating func move(
        _ key: TransactionKey, to target: Int64, cause: MessageID, takingAtMost told: [AssetAmount]? = nil
    ) -> Move? {
        guard var grant = grants[key], target != grant.appliedShare else { return nil }
        let parts = lots(of: key)
        let moves = parts.map {
            Amounts.share(target, of: $0.amount) - Amounts.share(grant.appliedShare, of: $0.amount)
        }
        for (lot, move) in zip(parts, moves) where move < 0 {
            guard !balance(lot.account).addingReportingOverflow(-move).overflow else { return nil }
        }
        let isRefund = target > grant.appliedShare
        grant.revision += 1
        grant.appliedShare = target
        grants[key] = grant
        changes.changedGrants.insert(key)
        let sourceID = "\(key.transactionID)/\(grant.revision)"
        var taken: [AssetAmount] = []
        var owed: [AssetAmount] = []
        var repaid: [Announcement] = []
        for (lot, move) in zip(parts, moves) {
            let most = told.map { told in told.first { $0.asset == lot.key.asset }?.amount ?? 0 } ?? move
            let (moved, debt) =
                isRefund
                ? takeBack(move, most: most, grantedAs: lot, sourceID, cause)
                : giveBack(-move, grantedAs: lot, grant.revision, cause, &repaid)
            taken.append(AssetAmount(asset: lot.key.asset, amount: moved))
            owed.append(AssetAmount(asset: lot.key.asset, amount: debt))
        }
        return Move(
            body: PurchaseClawedBack(
                customer: grant.customer, transactionID: key.transactionID, revokedShare: target,
                revision: grant.revision, taken: taken, owed: owed, balances: balances(of: grant.customer)),
            repaid: repaid)
    }

    /// The share that the newest statement takes back; of a non-consumable, the newest over all transactions of its chain
    /// that are its customer's, and of a subscription's period, over all that tell of it.
    func revokedShare(of grant: Grant) -> Int64 {
        let statement = decidingStatement(of: grant)
        return grant.kind == .nonConsumable
            ? statement?.revokedShare ?? 0 : statement?.takenShare ?? grant.appliedShare
    }

    /// The statement whose share that is.
    private func decidingStatement(of grant: Grant) -> VerifiedTransaction? {
        switch grant.kind {
        case .consumable: purchases[grant.key]?.statement
        case .period: grant.period.flatMap { newestStatement(of: $0, ownedBy: grant.customer) }
        case .nonConsumable:
            newestStatement(of: grant.originalTransactionID, grant.key.environment, ownedBy: grant.customer)
        }
    }

    /// The newest statement about any transaction of a chain that belongs to a customer.
    func newestStatement(
        of original: TransactionID, _ environment: StoreEnvironment, ownedBy customer: CustomerID
    ) -> VerifiedTransaction? {
        var newest: VerifiedTransaction?
        for purchase in purchases.values where purchase.owner == customer {
            let statement = purchase.statement
            guard statement.originalTransactionID == original, statement.environment == environment else { continue }
            if newest.map({ statement.isNewer(than: $0) }) ?? true { newest = statement }
        }
        return newest
    }

    /// Own lot first, then the customer's other lots of the same environment, oldest first, to zero or to `most`; the rest is
    /// a debt.
    private mutating func takeBack(
        _ amount: Int64, most: Int64, grantedAs own: Lot, _ sourceID: String, _ cause: MessageID
    ) -> (taken: Int64, owed: Int64) {
        let refunded = own.key.purchase
        let wanted = min(max(most, 0), amount)
        var rest = wanted
        rest -= draw(rest, from: own.key, .clawback, sourceID: sourceID, refunded: refunded)
        for key in lotOrder[own.account] ?? [] where rest > 0 && key.purchase.environment == refunded.environment {
            guard lots[key]?.isFrozen == false else { continue }
            rest -= draw(rest, from: key, .clawback, sourceID: sourceID, refunded: refunded)
        }
        rest += amount - wanted
        let taken = amount - rest
        _ = post(
            LedgerRow(
                account: own.account, direction: .out, amount: taken, balanceAfter: 0, source: .refund,
                sourceID: sourceID, environment: refunded.environment,
                remark: remark("Apple refund", refunded), cause: cause))
        if rest > 0 {
            var debt = debts[own.key] ?? Debt(key: own.key, customer: own.customer, amount: 0)
            debt.amount += rest
            save(debt)
        }
        return (taken, rest)
    }

    /// Cancels the debt first and returns what had paid it, then refills the lots that this purchase's refunds drew, the
    /// last drawn first. What comes back settles other debts of the account that are still open: those lots were drawn in
    /// place of others that had been spent, and whichever refund came first must not matter.
    private mutating func giveBack(
        _ amount: Int64, grantedAs own: Lot, _ revision: Int64, _ cause: MessageID, _ facts: inout [Announcement]
    ) -> (taken: Int64, owed: Int64) {
        let refunded = own.key.purchase
        let sourceID = "\(refunded.transactionID)/\(revision)"
        var (cancelled, repaid, filled) = cancelDebt(amount, grantedAs: own, sourceID, cause)
        var rest = amount - cancelled - repaid
        for (key, drawn) in drawnLots(by: refunded, own.key.asset, .clawback) where rest > 0 {
            let part = min(rest, drawn)
            refill(part, into: key, .clawback, sourceID: sourceID, refunded: refunded)
            filled.append(key)
            rest -= part
        }
        let returned = amount - cancelled - repaid - rest
        _ = post(
            LedgerRow(
                account: own.account, direction: .into, amount: returned, balanceAfter: 0, source: .refundReversed,
                sourceID: sourceID, environment: refunded.environment,
                remark: remark("Apple refund reversed", refunded), cause: cause))
        payDebts(of: own.account, from: filled, upTo: repaid + returned, payer: (refunded, revision), cause, &facts)
        return (-returned - repaid, -cancelled)
    }

    /// What refunds of a purchase, or payments of its debt, still hold of each lot, the lot drawn last first.
    func drawnLots(by refunded: TransactionKey, _ asset: AssetID, _ kind: Draw.Kind) -> [(LotKey, Int64)] {
        var order: [LotKey] = []
        var amounts: [LotKey: Int64] = [:]
        for draw in clawbackDraws[refunded] ?? [] where draw.lot.asset == asset && draw.kind == kind {
            amounts[draw.lot, default: 0] += draw.amount
            guard draw.amount > 0 else { continue }
            order.removeAll { $0 == draw.lot }
            order.append(draw.lot)
        }
        return order.reversed().compactMap { key in
            amounts[key].flatMap { $0 > 0 ? (key, $0) : nil }
        }
    }

    private func remark(_ what: String, _ key: TransactionKey) -> String {
        "\(what): \(grants[key]?.productID.rawValue ?? key.transactionID.rawValue)"
    }
}
