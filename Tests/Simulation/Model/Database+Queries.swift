import Messages

@testable import Granting

/// How far a statement is: one that had to wait goes on where it stood.
struct Progress {
    var hasBegun = false
    /// Rows done.
    var index = 0
    /// The rows to lock: those that were there when the statement began.
    var customers: [UserKey] = []
    var transactions: [TransactionKey] = []
}

/// What each query finds and locks, as its SQL says.
extension Database {
    /// Runs a query as far as it gets. False if it waits.
    func run(
        _ query: BookQuery, for transaction: Int, _ progress: inout Progress, into found: inout BookFindings
    ) -> Bool {
        switch query {
        // One at a time, or the mistake would show as a deadlock first.
        case .keepCatalog where mutation == .foldBroken: return changeCatalog(transaction)
        case .keepCatalog: return keepCatalog(transaction)
        case .changeCatalog: return changeCatalog(transaction)
        case .insertCustomers(let users): return insert(users, transaction, &progress)
        case .lockCustomers(let customers): return lock(customers, transaction, &progress, &found)
        case .insertTransactions(let submissions): return insert(submissions, transaction, &progress)
        case .lockTransactions(let keys): return lock(keys, transaction, &progress, &found)
        case .savepoint:
            let marks = (customers.mark(of: transaction), transactions.mark(of: transaction))
            update(transaction) { $0.savepoint = marks }
        case .rollBackToSavepoint: rollBackToSavepoint(transaction)
        case .findCustomers(let users):
            found.customers += users.compactMap { customers.row($0, for: transaction) }
        case .findOwners(let keys, let tokens, let orders):
            found.owners += possibleOwners(keys, tokens, orders, transaction)
        case .tokens(let named, let keys): readTokens(named, keys, transaction, &found)
        case .clock:
            found.now = now
            update(transaction) { $0.clock = now }
        case .transactions(let keys):
            let rows = keys.compactMap { transactions.row($0, for: transaction)?.purchase }
            found.purchases += rows
            // As the first re-drive of the batch found it: one after an import in the same batch looks again.
            update(transaction) { open in
                for purchase in rows where open.redriven[purchase.key] == nil { open.redriven[purchase.key] = purchase }
            }
        case .markHeld where mutation == .heldNotRedriven: break
        case .markHeld(let range): found.marked += markHeld(range, transaction)
        case .stamps, .definition, .history, .imported: readCatalog(query, transaction, &found)
        // Nothing is ever restored here.
        case .adoptRestored, .userDigests: break
        default:
            readWallets(query, mutation == .foldBroken ? 0 : transaction, &found)
            if case .orders = query { update(transaction) { $0.orders.formUnion(found.orders.map(\.number)) } }
        }
        return true
    }

    private func readTokens(
        _ named: [TokenKey], _ keys: [TransactionKey], _ transaction: Int, _ found: inout BookFindings
    ) {
        let stored = keys.compactMap { transactions.row($0, for: transaction)?.purchase }.compactMap { purchase in
            purchase.statement.appAccountToken.map { TokenKey(app: purchase.app, token: $0) }
        }
        for key in Set(named + stored) {
            guard let token = tokens.row(key, for: transaction) else { continue }
            found.tokens.append((key, token))
            update(transaction) { $0.tokens.insert(key.token) }
        }
    }

    private func keepCatalog(_ transaction: Int) -> Bool {
        let blockers = [exclusive, exclusiveWaiter].filter { $0 != 0 && $0 != transaction }
        guard blockers.isEmpty else {
            wait(transaction, for: blockers)
            return false
        }
        update(transaction) { $0.sharesCatalog = true }
        return true
    }

    private func changeCatalog(_ transaction: Int) -> Bool {
        var blockers = open.filter { $0.key != transaction && $0.value.sharesCatalog }.map(\.key).sorted()
        if exclusive != 0, exclusive != transaction { blockers.append(exclusive) }
        guard blockers.isEmpty else {
            exclusiveWaiter = transaction
            wait(transaction, for: blockers)
            return false
        }
        if exclusiveWaiter == transaction { exclusiveWaiter = 0 }
        exclusive = transaction
        return true
    }

    private func insert(_ users: [UserKey], _ transaction: Int, _ progress: inout Progress) -> Bool {
        while progress.index < users.count {
            let user = users[progress.index]
            if customers.cells[user]?.committed == nil {
                if let holder = customers.take(user, for: transaction) {
                    wait(transaction, for: [holder])
                    return false
                }
                if customers.row(user, for: transaction) == nil {
                    customers.write(Customer(id: newCustomerID(), app: user.app, userID: user.user), at: user)
                }
            }
            progress.index += 1
        }
        return true
    }

    /// `FOR NO KEY UPDATE` in key order: of rows that are there when it begins, each as it is once its lock is taken.
    private func lock(
        _ wanted: [CustomerID], _ transaction: Int, _ progress: inout Progress, _ found: inout BookFindings
    ) -> Bool {
        if !progress.hasBegun {
            progress.hasBegun = true
            let rows = customers.rows(for: transaction).filter { wanted.contains($0.id) }.sorted { $0.id < $1.id }
            progress.customers = rows.compactMap { row in row.userID.map { UserKey(app: row.app, user: $0) } }
            // As if the SQL said nothing about the order, and two plans differed.
            if mutation == .customersUnsorted, transaction.isMultiple(of: 2) { progress.customers.reverse() }
        }
        while progress.index < progress.customers.count {
            let user = progress.customers[progress.index]
            if let holder = customers.take(user, for: transaction) {
                wait(transaction, for: [holder])
                return false
            }
            if let row = customers.row(user, for: transaction) { found.customers.append(row) }
            progress.index += 1
        }
        return true
    }

    private func insert(_ submissions: [Submission], _ transaction: Int, _ progress: inout Progress) -> Bool {
        while progress.index < submissions.count {
            let submission = submissions[progress.index]
            let key = submission.transaction.key
            if transactions.cells[key]?.committed == nil {
                if let holder = transactions.take(key, for: transaction) {
                    wait(transaction, for: [holder])
                    return false
                }
                if transactions.row(key, for: transaction) == nil {
                    var purchase = Purchase(statement: submission.transaction, app: submission.app)
                    purchase.firstCause = submission.cause
                    transactions.write(TransactionRow(purchase: purchase, place: nextNumber()), at: key)
                }
            }
            progress.index += 1
        }
        return true
    }

    private func lock(
        _ keys: [TransactionKey], _ transaction: Int, _ progress: inout Progress, _ found: inout BookFindings
    ) -> Bool {
        if !progress.hasBegun {
            progress.hasBegun = true
            progress.transactions = keys.filter { transactions.row($0, for: transaction) != nil }.sorted()
        }
        while progress.index < progress.transactions.count {
            let key = progress.transactions[progress.index]
            if let holder = transactions.take(key, for: transaction) {
                wait(transaction, for: [holder])
                return false
            }
            if var purchase = transactions.row(key, for: mutation == .foldBroken ? 0 : transaction)?.purchase {
                // As if any statement was newer than the stored one.
                if mutation == .olderStatementWins { purchase.statement.signedDate = 0 }
                found.purchases.append(purchase)
            }
            progress.index += 1
        }
        return true
    }

    private func possibleOwners(
        _ keys: [TransactionKey], _ named: [TokenKey], _ numbers: [OrderNumber], _ transaction: Int
    ) -> [CustomerID] {
        let purchases = keys.compactMap { transactions.row($0, for: transaction)?.purchase }
        let stored = purchases.compactMap { purchase in
            purchase.statement.appAccountToken.map { TokenKey(app: purchase.app, token: $0) }
        }
        return purchases.compactMap(\.owner)
            + (named + stored).compactMap { tokens.row($0, for: transaction)?.customer }
            + numbers.compactMap { orders.row($0, for: transaction)?.customer }
    }

    /// Rows that somebody holds are skipped.
    private func markHeld(_ range: TransactionTable.HeldRange, _ transaction: Int) -> [TransactionKey] {
        let held = transactions.keys(for: transaction).compactMap { key in
            transactions.row(key, for: transaction).map { (key: key, row: $0) }
        }.filter { _, row in
            guard let reason = row.purchase.heldReason, range.reasons.contains(reason) else { return false }
            return row.purchase.app == range.app && row.redrivenVersion < range.version
        }.sorted { $0.row.place < $1.row.place }
        var marked: [TransactionKey] = []
        for (key, row) in held where marked.count < Int(range.limit) {
            guard transactions.take(key, for: transaction) == nil else { continue }
            var row = row
            row.redrivenVersion = range.version
            transactions.write(row, at: key)
            marked.append(key)
        }
        return marked
    }
}
