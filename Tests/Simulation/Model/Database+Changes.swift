import Messages
import Pipeline

@testable import Granting

/// What each change writes, and the constraints behind it. Unchanged code never meets one: that is a broken rule.
extension Database {
    /// Runs a change as far as it gets. False if it waits.
    func run(_ change: BookChange, for transaction: Int, _ progress: inout Progress) -> Bool {
        switch change {
        case .insertOrders(let orders):
            return each(orders, transaction, &progress, { self.orders.take($0.number, for: transaction) }) {
                insert($0, transaction)
            }
        case .insertTokens(let orders):
            return each(orders, transaction, &progress, { tokens.take(Self.tokenKey($0), for: transaction) }) { order in
                let key = Self.tokenKey(order)
                if tokens.row(key, for: transaction) != nil { violate("constraint tokens_pkey") }
                tokens.write(IssuedToken(customer: order.customer, orderNumber: order.number), at: key)
            }
        case .deliverOrders(let orders):
            return each(orders, transaction, &progress, { self.orders.take($0.number, for: transaction) }) {
                self.orders.write($0, at: $0.number)
            }
        case .updateStatements(let purchases), .updateOutcomes(let purchases):
            return each(purchases, transaction, &progress, { transactions.take($0.key, for: transaction) }) {
                update($0, change, transaction)
            }
        case .insertGrants(let grants):
            return each(grants, transaction, &progress, { self.grants.take($0.key, for: transaction) }) { grant in
                if self.grants.row(grant.key, for: transaction) != nil { violate("INV1: constraint grants_pkey") }
                self.grants.write(grant, at: grant.key)
            }
        case .updateGrants(let grants):
            return each(grants, transaction, &progress, { self.grants.take($0.key, for: transaction) }) {
                self.grants.write($0, at: $0.key)
            }
        default: return runWallets(change, transaction, &progress)
        }
    }

    private func runWallets(_ change: BookChange, _ transaction: Int, _ progress: inout Progress) -> Bool {
        switch change {
        case .saveAccounts(let accounts):
            return each(accounts, transaction, &progress, { self.accounts.take($0.key, for: transaction) }) {
                key, account in
                if account.balance < 0 { violate("INV4: constraint accounts_balance_not_negative") }
                self.accounts.write(account, at: key)
            }
        case .insertLots(let lots):
            return each(lots, transaction, &progress, { self.lots.take($0.key, for: transaction) }) { lot in
                if self.lots.row(lot.key, for: transaction) != nil { violate("constraint lots_one_a_grant_and_asset") }
                save(LotRow(id: Int64(nextNumber()), lot: lot))
            }
        case .updateLots(let lots):
            return each(lots, transaction, &progress, { self.lots.take($0.key, for: transaction) }) { lot in
                guard let row = self.lots.row(lot.key, for: transaction) else { return }
                save(LotRow(id: row.id, lot: lot))
            }
        case .insertDraws(let draws): draws.forEach { self.draws.append($0, for: transaction) }
        case .appendLedger(let rows): rows.forEach { append($0, transaction) }
        case .saveDebts(let debts):
            return each(debts, transaction, &progress, { self.debts.take($0.key, for: transaction) }) { debt in
                if debt.settled < 0 || debt.settled > debt.amount { violate("constraint debts_settled") }
                self.debts.write(debt, at: debt.key)
            }
        case .insertSpends(let spends):
            return each(spends, transaction, &progress, { self.spends.take($0.key, for: transaction) }) { spend in
                if self.spends.row(spend.key, for: transaction) != nil { violate("constraint spends_pkey") }
                self.spends.write(spend, at: spend.key)
            }
        case .insertCatalog(let entry): catalogs.append(CatalogRow(entry: entry, importedAt: now), for: transaction)
        default: break
        }
        return true
    }

    /// Locks and writes row by row. False if it waits for one.
    private func each<Value>(
        _ values: [Value], _ transaction: Int, _ progress: inout Progress, _ take: (Value) -> Int?,
        _ write: (Value) -> Void
    ) -> Bool {
        while progress.index < values.count {
            if let holder = take(values[progress.index]) {
                wait(transaction, for: [holder])
                return false
            }
            write(values[progress.index])
            progress.index += 1
        }
        return true
    }

    private func insert(_ order: Order, _ transaction: Int) {
        let others = orders.rows(for: transaction)
        if others.contains(where: { $0.number == order.number }) { violate("constraint orders_pkey") }
        if let token = order.token, others.contains(where: { $0.token == token }) { violate("constraint orders_token") }
        if let delivered = order.deliveredBy, others.contains(where: { $0.deliveredBy == delivered }) {
            violate("constraint orders_one_a_transaction")
        }
        orders.write(order, at: order.number)
    }

    /// A statement's columns, or a decision's.
    private func update(_ purchase: Purchase, _ change: BookChange, _ transaction: Int) {
        guard var row = transactions.row(purchase.key, for: transaction) else { return }
        if case .updateStatements = change {
            row.purchase.statement = purchase.statement
        } else {
            let statement = row.purchase.statement
            row.purchase = purchase
            row.purchase.statement = statement
        }
        if row.purchase.heldReason != nil, row.purchase.deliveredBy != nil {
            violate("constraint transactions_delivered_or_held")
        }
        transactions.write(row, at: purchase.key)
    }

    private func save(_ row: LotRow) {
        if row.lot.remaining < 0 || row.lot.remaining > row.lot.amount {
            violate("INV3: constraint lots_remaining_within_amount")
        }
        lots.write(row, at: row.lot.key)
    }

    private func append(_ row: LedgerRow, _ transaction: Int) {
        let isThere = ledger.rows(for: transaction).contains {
            $0.account == row.account && $0.source == row.source && $0.sourceID.isSameBytes(as: row.sourceID)
                && $0.direction == row.direction && $0.environment == row.environment
        }
        if isThere { violate("INV5: constraint ledger_once_a_source") }
        ledger.append(row, for: transaction)
    }

    private static func tokenKey(_ order: Order) -> TokenKey { TokenKey(app: order.app, token: order.token ?? "") }
}
