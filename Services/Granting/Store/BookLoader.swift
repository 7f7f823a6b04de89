import Messages
import Pipeline
import Postgres

/// Loads the part of the books a batch decides on, and locks it: customers, then transactions, each in key order.
///
/// A customer's lock covers the whole wallet (orders, accounts, lots, debts, spends), so nothing below is locked again.
/// Three round trips, whatever the batch holds; key sets that are empty are skipped.
struct BookLoader {
    /// What was asked for.
    let needs: BookNeeds
    /// Who asked, by user.
    private(set) var callers: [UserKey: CustomerID] = [:]

    /// Loads everything. `catalogs` remembers catalogues between batches.
    static func load(
        _ needs: BookNeeds, _ catalogs: inout CatalogCache, in transaction: inout Transaction
    ) throws -> (books: Books, callers: [UserKey: CustomerID]) {
        var loader = BookLoader(needs: needs)
        var books = Books(siblingOrderNumber: SiblingOrder.number)
        let owners = try loader.lookAhead(&books, &catalogs, in: &transaction)
        try loader.lock(owners, &books, in: &transaction)
        try loader.readWallets(&books, in: &transaction)
        return (books, loader.callers)
    }

    private init(needs: BookNeeds) { self.needs = needs }

    /// Inserts missing customers and finds, without locking, everybody whose wallet may be touched.
    private mutating func lookAhead(
        _ books: inout Books, _ catalogs: inout CatalogCache, in transaction: inout Transaction
    ) throws -> Set<CustomerID> {
        var statements = [CatalogTables.lockShared, CatalogTables.stamps(needs.apps)]
        let users = needs.users
        if !users.isEmpty { statements += [CustomerTables.insert(users), CustomerTables.find(users)] }
        let looksForOwners = !needs.purchases.isEmpty
        if looksForOwners {
            statements.append(
                CustomerTables.possibleOwners(needs.keys, needs.tokens, needs.orderNumbers.sorted()))
        }
        let results = try transaction.pipeline(statements)
        var owners = Set(needs.purchases.compactMap(\.customer))
        if !users.isEmpty {
            for row in results[3] {
                let customer = try CustomerTables.customer(row)
                guard let user = customer.userID else { continue }
                callers[UserKey(app: customer.app, user: user)] = customer.id
                owners.insert(customer.id)
            }
        }
        if looksForOwners, let rows = results.last { for row in rows { owners.insert(try row.id("customer")) } }
        books.catalogs = try catalogs.catalogs(inForce: results[1], in: &transaction)
        return owners
    }

    /// Locks customers and transactions. If a transaction turns out to belong to somebody who is not locked, because it
    /// was claimed in between, the locks are given up and taken again in order, that customer included.
    private func lock(_ owners: Set<CustomerID>, _ books: inout Books, in transaction: inout Transaction) throws {
        var owners = owners
        while true {
            let missing = try lockOnce(owners, &books, in: &transaction)
            guard !missing.isEmpty else { return }
            owners.formUnion(missing)
            _ = try transaction.query("ROLLBACK TO SAVEPOINT loading")
        }
    }

    private func lockOnce(
        _ owners: Set<CustomerID>, _ books: inout Books, in transaction: inout Transaction
    ) throws -> Set<CustomerID> {
        let keys = needs.keys
        var statements = [CustomerTables.lock(owners.sorted())]
        if !keys.isEmpty {
            statements = [Statement("SAVEPOINT loading")] + statements
            statements += [TransactionTable.insert(needs.firstSubmissions), TransactionTable.lock(keys)]
        }
        let tokens = needs.tokens
        if !keys.isEmpty || !tokens.isEmpty { statements.append(CustomerTables.tokens(tokens, keys)) }
        let results = try transaction.pipeline(statements)
        let isAboutPurchases = !keys.isEmpty
        books.customers = [:]
        for row in results[isAboutPurchases ? 1 : 0] {
            let customer = try CustomerTables.customer(row)
            books.customers[customer.id] = customer
        }
        books.tokens = [:]
        if isAboutPurchases || !tokens.isEmpty, let rows = results.last {
            for row in rows {
                let (key, token) = try CustomerTables.token(row)
                books.tokens[key] = token
            }
        }
        guard isAboutPurchases else { return [] }
        books.purchases = [:]
        // Every token that is known now may decide on an owner, also one that was issued since the look ahead.
        var needed = Set(books.tokens.values.map(\.customer))
        for row in results[3] {
            let purchase = try TransactionTable.purchase(row)
            books.purchases[purchase.key] = purchase
            if let owner = purchase.owner { needed.insert(owner) }
        }
        return needed.subtracting(owners)
    }
}
