import Messages
import Postgres

/// Writes what a fold changed: one statement a kind of row, whatever the batch holds, in the order foreign keys ask for.
/// The statements travel with the next round trip of the transaction.
enum BookSaver {
    /// Queues everything that changed in `books`.
    static func save(_ books: Books, in transaction: inout Transaction) {
        transaction.enqueue(statements(books))
    }

    private static func statements(_ books: Books) -> [Statement] {
        let changes = books.changes
        var statements: [Statement] = []
        func add<Value>(_ values: [Value], _ statement: ([Value]) -> Statement) {
            if !values.isEmpty { statements.append(statement(values)) }
        }
        // An order that was made and delivered in one batch is inserted as delivered.
        let newOrders = changes.newOrders.compactMap { books.orders[$0] }
        // A sibling refers to its order, so orders made first go first.
        add(newOrders, CustomerTables.insert)
        add(newOrders.filter { $0.token != nil }, CustomerTables.insertTokens)
        let delivered = changes.deliveredOrders.subtracting(changes.newOrders)
        add(delivered.sorted().compactMap { books.orders[$0] }, CustomerTables.deliver)

        let purchases = changes.purchases.sorted().compactMap { books.purchases[$0] }
        add(purchases.filter { changes.statements.contains($0.key) }, TransactionTable.updateStatements)
        add(purchases, TransactionTable.updateOutcomes)

        let newGrants = Set(changes.newGrants)
        add(newGrants.sorted().compactMap { books.grants[$0] }, GrantTable.insert)
        add(changes.changedGrants.subtracting(newGrants).sorted().compactMap { books.grants[$0] }, GrantTable.update)

        let accounts = changes.accounts.sorted().compactMap { key in
            books.wallets[key.customer]?[key.asset].map { (key: key, account: $0) }
        }
        add(accounts, WalletTables.save)
        add(changes.newLots.compactMap { books.lots[$0] }, WalletTables.insert)
        let changedLots = changes.changedLots.subtracting(changes.newLots).compactMap { books.lots[$0] }
        add(
            changedLots.sorted { ($0.key.purchase, $0.key.asset) < ($1.key.purchase, $1.key.asset) },
            WalletTables.update)
        add(changes.draws, WalletTables.insert)
        add(changes.ledger, WalletTables.append)
        let debts = changes.debts.compactMap { books.debts[$0] }
        add(debts.sorted { ($0.key.purchase, $0.key.asset) < ($1.key.purchase, $1.key.asset) }, WalletTables.save)
        add(changes.spends.compactMap { books.spends[$0] }, WalletTables.insert)
        return statements
    }
}
