import Messages

/// Loads the part of the books a batch decides on, and locks it: customers, then subscriptions, then transactions, each
/// in key order.
///
/// A customer's lock covers the whole wallet (orders, accounts, lots, debts, spends), so nothing below is locked again.
/// Two round trips, one more for users never seen before, and one for what only the locks can name (a purchase that is
/// here already, a refund, a spend's lots), whatever the batch holds; key sets that are empty are skipped.
struct BookLoader {
    /// What was asked for.
    private(set) var needs: BookNeeds
    /// Who asked, by user.
    private(set) var callers = Callers()
    /// Who has which periods of subscriptions.
    private(set) var holders: [PeriodKey: CustomerID] = [:]

    /// Loads everything. `catalogs` remembers catalogues between batches.
    static func load(
        _ needs: BookNeeds, _ catalogs: inout CatalogCache, in tables: inout some BookTables & ~Copyable
    ) throws -> (books: Books, callers: Callers) {
        var loader = BookLoader(needs: needs)
        var books = Books(siblingOrderNumber: SiblingOrder.number)
        let owners = try loader.lookAhead(&books, &catalogs, in: &tables)
        try loader.lock(owners, &books, in: &tables)
        loader.lookForWaiting(books)
        try loader.readWallets(&books, in: &tables)
        return (books, loader.callers)
    }

    private init(needs: BookNeeds) { self.needs = needs }

    /// Finds, without locking, everybody whose wallet may be touched; who is here for the first time is inserted.
    private mutating func lookAhead(
        _ books: inout Books, _ catalogs: inout CatalogCache, in tables: inout some BookTables & ~Copyable
    ) throws -> Set<CustomerID> {
        var queries: [BookQuery] = [.keepCatalog, .stamps(needs.apps)]
        let users = needs.users
        if !users.isEmpty { queries += [.findCustomers(users), .formerUsers(users)] }
        if !needs.purchases.isEmpty {
            queries.append(.findOwners(needs.keys, needs.tokens, needs.orderNumbers.sorted()))
        }
        if !needs.subscriptions.isEmpty { queries.append(.subscriptionOwners(needs.subscriptions)) }
        let found = try tables.run(queries)
        var owners = Set(needs.purchases.compactMap(\.customer) + found.owners)
        owners.formUnion(found.subscriptionOwners.map(\.owner.customer))
        callers.take(found.formerUsers)
        callers.take(found.customers)
        let newcomers = users.filter { callers.isNew($0, at: needs.heard[$0] ?? .max) }
        if !newcomers.isEmpty {
            callers.take(
                try tables.run([
                    .adoptRestored(newcomers), .insertCustomers(newcomers), .findCustomers(newcomers),
                ]).customers)
        }
        owners.formUnion(users.flatMap(callers.all))
        forgetErased()
        books.catalogs = try catalogs.catalogs(inForce: found.stamps, in: &tables)
        for place in needs.purchases.indices {
            let need = needs.purchases[place]
            needs.purchases[place].transaction = books.catalog(of: need.app).typed(need.transaction)
        }
        return owners
    }

    /// Of who is erased nothing is looked up, and so nothing kept: not who they are to starter offers either.
    private mutating func forgetErased() {
        for place in needs.purchases.indices {
            let need = needs.purchases[place]
            guard let user = need.user, callers.customer(user, at: need.at) == nil else { continue }
            needs.purchases[place].identities = nil
        }
    }

    /// Locks customers and transactions. If a transaction turns out to belong to somebody who is not locked, because it
    /// was claimed in between, the locks are given up and taken again in order, that customer included.
    private mutating func lock(
        _ owners: Set<CustomerID>, _ books: inout Books, in tables: inout some BookTables & ~Copyable
    ) throws {
        var owners = owners
        while true {
            let missing = try lockOnce(owners, &books, in: &tables)
            guard !missing.isEmpty else { return }
            owners.formUnion(missing)
            _ = try tables.run([.rollBackToSavepoint])
        }
    }

    /// Purchases that may be delivered because one of these is taken back need what every purchase needs.
    private mutating func lookForWaiting(_ books: Books) {
        guard let cause = needs.purchases.first?.cause else { return }
        let decided = Set(needs.keys)
        needs.waiting = books.purchases.values.filter {
            $0.heldReason == .ownedPermanently && !decided.contains($0.key)
        }.map {
            BookNeeds.PurchaseNeed(
                cause: cause, app: $0.app, user: nil, customer: $0.owner, orderNumber: nil, transaction: $0.statement)
        }
    }

    /// The cards whose other purchases decide on these ones.
    private func cards(_ books: Books) -> [ProductID] {
        needs.purchases.reduce(into: Set()) {
            $0.formUnion(books.catalog(of: $1.app).cards(alike: $1.transaction.productID))
        }.sorted()
    }

    /// Whether an app spoken of has starter offers.
    func hasOffers(_ books: Books) -> Bool { needs.apps.contains { !books.catalog(of: $0).offers.isEmpty } }

    private mutating func lockOnce(
        _ owners: Set<CustomerID>, _ books: inout Books, in tables: inout some BookTables & ~Copyable
    ) throws -> Set<CustomerID> {
        let (keys, tokens) = (needs.keys, needs.tokens)
        var queries: [BookQuery] = [.lockCustomers(owners.sorted())]
        let subscriptions = needs.subscriptions
        if !keys.isEmpty {
            queries.insert(.savepoint, at: 0)
            if !subscriptions.isEmpty { queries.append(.lockSubscriptions(subscriptions)) }
            queries += [.insertTransactions(needs.firstSubmissions), .lockTransactions(keys)]
        }
        let cards = self.cards(books)
        if !cards.isEmpty { queries.append(.cards(owners.sorted(), cards)) }
        if !keys.isEmpty || !tokens.isEmpty { queries.append(.tokens(tokens, keys)) }
        if !subscriptions.isEmpty {
            queries += [
                .subscriptionOwners(subscriptions), .periods(needs.periods), .transactionsOfPeriods(needs.periods),
            ]
        }
        // These stand still from the first statement on.
        queries += [.clock, .accounts(owners.sorted())]
        if !needs.orderNumbers.isEmpty { queries.append(.orders(needs.orderNumbers.sorted())) }
        if !needs.consents.isEmpty { queries.append(.consents(owners.sorted(), needs.consents.map(\.cause))) }
        if !needs.userTokens.isEmpty { queries.append(.userTokens(owners.sorted())) }
        if needs.bringsIdentities || hasOffers(books) { queries.append(.identities(owners.sorted())) }
        let found = try tables.run(queries)
        books.takeAnew(found)
        books.subscriptionOwners = [:]
        for (chain, owner) in found.subscriptionOwners { books.subscriptionOwners[chain] = owner }
        books.periods = [:]
        for (period, grant, customer) in found.periods {
            books.periods[period] = grant
            holders[period] = customer
        }
        books.customers = [:]
        for customer in found.customers { books.customers[customer.id] = customer }
        books.tokens = [:]
        for (key, token) in found.tokens { books.tokens[key] = token }
        guard !keys.isEmpty else { return [] }
        books.purchases = [:]
        // Every token that is known now may decide on an owner, also one that was issued since the look ahead.
        var needed = Set(books.tokens.values.map(\.customer))
        needed.formUnion(books.subscriptionOwners.values.map(\.customer))
        needed.formUnion(holders.values)
        for purchase in found.purchases {
            books.purchases[purchase.key] = purchase
            if let owner = purchase.owner { needed.insert(owner) }
        }
        return needed.subtracting(owners)
    }
}
