import Messages

/// Writes what a fold changed: one change a kind of row, whatever the batch holds, in the order foreign keys ask for.
/// They travel with the next round trip of the transaction.
enum BookSaver {
    /// Queues everything that changed in `books`.
    static func save(_ books: Books, in tables: inout some BookTables & ~Copyable) {
        tables.enqueue(changes(books))
    }

    private static func changes(_ books: Books) -> [BookChange] {
        let changes = books.changes
        var writes: [BookChange] = []
        func add<Value>(_ values: [Value], _ change: ([Value]) -> BookChange) {
            if !values.isEmpty { writes.append(change(values)) }
        }
        // An order that was made and delivered in one batch is inserted as delivered.
        let newOrders = changes.newOrders.compactMap { books.orders[$0] }
        // A sibling refers to its order, so orders made first go first.
        add(newOrders, BookChange.insertOrders)
        add(newOrders.filter { $0.token != nil }, BookChange.insertTokens)
        add(userTokens(books), BookChange.insertUserTokens)
        add(Set(changes.identities).sorted(), BookChange.insertIdentities)
        let delivered = changes.deliveredOrders.subtracting(changes.newOrders)
        add(delivered.sorted().compactMap { books.orders[$0] }, BookChange.deliverOrders)

        let purchases = changes.purchases.sorted().compactMap { books.purchases[$0] }
        add(purchases.filter { changes.statements.contains($0.key) }, BookChange.updateStatements)
        add(purchases, BookChange.updateOutcomes)

        let newGrants = Set(changes.newGrants)
        add(newGrants.sorted().compactMap { books.grants[$0] }, BookChange.insertGrants)
        add(
            changes.changedGrants.subtracting(newGrants).sorted().compactMap { books.grants[$0] },
            BookChange.updateGrants)

        // They refer to grants.
        add(Set(changes.claims).sorted().compactMap { books.claims[$0] }, BookChange.saveClaims)

        let accounts = changes.accounts.sorted().compactMap { key in
            books.wallets[key.customer]?[key.asset].map { (key: key, account: $0) }
        }
        add(accounts, BookChange.saveAccounts)
        add(changes.newLots.compactMap { books.lots[$0] }, BookChange.insertLots)
        let changedLots = changes.changedLots.subtracting(changes.newLots).compactMap { books.lots[$0] }
        add(
            changedLots.sorted { ($0.key.purchase, $0.key.asset) < ($1.key.purchase, $1.key.asset) },
            BookChange.updateLots)
        add(changes.draws, BookChange.insertDraws)
        add(changes.ledger, BookChange.appendLedger)
        let debts = changes.debts.compactMap { books.debts[$0] }
        add(debts.sorted { ($0.key.purchase, $0.key.asset) < ($1.key.purchase, $1.key.asset) }, BookChange.saveDebts)
        add(changes.spends.compactMap { books.spends[$0] }, BookChange.insertSpends)
        add(distinct(changes.refundStatements), BookChange.saveRefundStatements)
        add(changes.flags, BookChange.insertFlags)
        add(changes.consents, BookChange.insertConsents)
        return writes
    }

    private static func userTokens(_ books: Books) -> [(key: TokenKey, customer: CustomerID)] {
        books.changes.userTokens.compactMap { key in books.tokens[key].map { (key: key, customer: $0.customer) } }
    }

    /// One statement a signed text, as one INSERT may not meet the same row twice: the one that a notification brought, if
    /// any did.
    private static func distinct(_ statements: [RefundStatement]) -> [RefundStatement] {
        var kept: [RefundStatement] = []
        for statement in statements {
            guard let place = kept.firstIndex(where: { $0.isSame(as: statement) }) else {
                kept.append(statement)
                continue
            }
            if kept[place].notification == nil { kept[place].notification = statement.notification }
        }
        return kept
    }
}
