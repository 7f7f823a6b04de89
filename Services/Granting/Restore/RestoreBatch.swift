import Messages
import Pipeline
import Postgres

/// Some missing facts and the part of the books they are about: loaded, put back, saved, in one transaction.
struct RestoreBatch {
    private let facts: [StreamedFact]

    /// What became of them.
    struct Outcome {
        var applied: [StreamedFact] = []
        var left: [(StreamedFact, String)] = []
        var customers = 0
        var nameless = 0
    }

    init(_ facts: [StreamedFact]) { self.facts = facts }

    /// Carries it out; throws what the database throws.
    func apply(in transaction: inout Transaction) throws -> Outcome {
        var outcome = Outcome()
        try restoreCatalogs(&outcome, in: &transaction)
        try restoreCustomers(&outcome, in: &transaction)
        var books = try load(in: &transaction)
        let repaid = try repaid(in: &transaction)
        // Facts told the other way round than they were decided fit in a later pass.
        var groups = Self.groups(facts)
        var problems: [MessageID: String] = [:]
        var hasFitted = true
        while hasFitted {
            hasFitted = false
            groups.removeAll { group in
                var copy = books
                do throws(Books.Misfit) {
                    try copy.restore(group, repaid: repaid)
                    books = copy
                } catch {
                    for fact in group { problems[fact.header.id] = error.reason }
                    return false
                }
                hasFitted = true
                outcome.applied += group
                return true
            }
        }
        outcome.left += groups.joined().map { ($0, problems[$0.header.id] ?? "") }
        BookSaver.save(books, in: &transaction)
        try saveOthers(outcome.applied, in: &transaction)
        _ = try transaction.pipeline([RestoreTables.insert(outcome.applied)])
        return outcome
    }

    /// What each message brought about, in the order in which the first of it was told. Catalogues come before.
    private static func groups(_ facts: [StreamedFact]) -> [[StreamedFact]] {
        var order: [MessageID] = []
        var groups: [MessageID: [StreamedFact]] = [:]
        for fact in facts {
            if case .catalogImported = fact.body { continue }
            if groups[fact.cause] == nil { order.append(fact.cause) }
            groups[fact.cause, default: []].append(fact)
        }
        return order.compactMap { groups[$0] }
    }

    // MARK: - Before

    /// Catalogues come into force again as of when they did: grants name their versions.
    private func restoreCatalogs(_ outcome: inout Outcome, in transaction: inout Transaction) throws {
        for fact in facts {
            guard case .catalogImported(let body) = fact.body else { continue }
            let stamp = try transaction.run([.stamps([fact.app])]).stamps.first?.stamp
            var current = Catalog.none
            if let stamp { current = try CatalogTables.read(fact.app, version: stamp.version, in: &transaction) }
            guard var definition = body.definition, current.version + 1 == body.catalogVersion else {
                let reason =
                    body.definition == nil
                    ? "an older version said it, without its content: import the catalogue again"
                    : "version \(current.version) is in force: it was imported otherwise"
                outcome.left.append((fact, reason))
                continue
            }
            // Who may buy in the sandbox is not in facts: the next import brings it.
            definition.policies.reviewers = current.definition?.policies.reviewers ?? []
            definition.policies.testers = current.definition?.policies.testers ?? []
            let change = CatalogImport.Change(body.catalogVersion, definition, after: current.definition)
            var entry = try CatalogTables.Entry(change, app: fact.app, actor: body.actor, cause: fact.cause)
            entry.importedAt = fact.header.occurredAt
            transaction.enqueue([
                .insertCatalog(entry), .insertProducts(entry), .insertAmounts(entry), .saveAssets(entry),
            ])
            outcome.applied.append(fact)
        }
    }

    /// Customers that the database has never had, in key order, and which users they are.
    private func restoreCustomers(_ outcome: inout Outcome, in transaction: inout Transaction) throws {
        var named: [CustomerID: (app: AppID, digest: String?)] = [:]
        var erased: Set<CustomerID> = []
        for fact in facts {
            for other in fact.customers where named[other] == nil { named[other] = (fact.app, nil) }
            guard let customer = fact.customer else { continue }
            if case .userErased = fact.body { erased.insert(customer) }
            named[customer] = (fact.app, fact.userDigest ?? named[customer]?.digest)
        }
        let customers = named.sorted { $0.key < $1.key }.map { (customer: $0.key, app: $0.value.app) }
        guard !customers.isEmpty else { return }
        let rows = try transaction.pipeline([RestoreTables.insertCustomers(customers)])[0]
        let new = try rows.map { row -> CustomerID in try row.id("customer") }
        let users = new.compactMap { customer in
            named[customer].flatMap { user in
                user.digest.map { (customer: customer, app: user.app, digest: $0) }
            }
        }.filter { !erased.contains($0.customer) }
        _ = try transaction.pipeline([RestoreTables.remember(users)])
        outcome.customers = new.count
        outcome.nameless = new.filter { !erased.contains($0) }.count - users.count
    }

    private func load(in transaction: inout Transaction) throws -> Books {
        let customers = Set(facts.flatMap(\.customers)).sorted()
        let keys = Set(facts.flatMap(\.purchases)).sorted()
        let granted = facts.compactMap { if case .granted(let body) = $0.body { body } else { nil } }
        let noted = facts.compactMap { if case .noted(let body) = $0.body { body } else { nil } }
        let delivered =
            granted.flatMap { [$0.orderNumber, $0.siblingOf] } + noted.flatMap { [$0.orderNumber, $0.siblingOf] }
        let numbers = Set(delivered.compactMap { $0 } + orders.map(\.number))
        let stamps = try transaction.run([.stamps(Set(facts.map(\.app)).sorted())]).stamps
        var books = Books(siblingOrderNumber: SiblingOrder.number)
        for (app, stamp) in stamps {
            books.catalogs[app] = try CatalogTables.read(app, version: stamp.version, in: &transaction)
        }
        let first = try transaction.run([
            .lockCustomers(customers), .insertTransactions(submissions), .lockTransactions(keys), .clock,
            .accounts(customers), .orders(numbers.sorted()), .tokens(orders.map(\.token), []), .userTokens(customers),
            .identities(customers), .consents(customers, []),
        ])
        books.takeAnew(first)
        for customer in first.customers { books.customers[customer.id] = customer }
        for (key, token) in first.tokens { books.tokens[key] = token }
        for purchase in first.purchases { books.purchases[purchase.key] = purchase }
        let spends = facts.compactMap { fact -> SpendKey? in
            guard case .spendDecided(let body) = fact.body else { return nil }
            return SpendKey(customer: body.customer, sourceID: body.sourceID)
        }
        books.take(
            over: try transaction.run([
                .grants(keys, chains: [], ownedBy: []), .lotsOfGrants(keys, chains: [], ownedBy: []),
                .clawbackDraws(keys, chains: [], ownedBy: []), .debts(keys, chains: [], ownedBy: []),
                .openDebts(customers), .spends(spends),
                .lots(customers.map { WalletTables.LotRange(customer: $0, asset: nil) }),
                .lockClaims(starterKeys(books).sorted()),
            ]))
        return books
    }

    /// The starter offers that grants of these facts have used up.
    private func starterKeys(_ books: Books) -> Set<StarterKey> {
        var keys: Set<StarterKey> = []
        for fact in facts {
            guard case .granted(let body) = fact.body, let environment = fact.header.environment else { continue }
            keys.formUnion(books.starterKeys(of: body, fact.app, environment))
        }
        return keys
    }

    private var orders: [(number: OrderNumber, token: TokenKey)] {
        facts.compactMap { fact in
            switch fact.body {
            case .orderCreated(let body):
                (body.orderNumber, TokenKey(app: fact.app, token: body.appAccountToken))
            case .tokenIssued(let body): (OrderNumber(""), TokenKey(app: fact.app, token: body.appAccountToken))
            default: nil
            }
        }
    }

    /// The statements that came with facts: what a transaction's row begins with if it is missing.
    private var submissions: [Submission] {
        var seen: Set<TransactionKey> = []
        return facts.compactMap { fact in
            guard let statement = fact.statement, seen.insert(statement.key).inserted else { return nil }
            return Submission(
                cause: fact.cause, app: fact.app, caller: nil, orderNumber: nil, transaction: statement)
        }.sorted { $0.transaction.key < $1.transaction.key }
    }

    private func repaid(in transaction: inout Transaction) throws -> Set<MessageID> {
        let payments = facts.filter { if case .debtRepaid = $0.body { true } else { false } }
        guard !payments.isEmpty else { return [] }
        let rows = try transaction.pipeline([
            RestoreTables.repaid(payments.map(\.cause), of: payments.compactMap(\.customer))
        ])[0]
        return Set(try rows.map { row -> MessageID in try row.id("cause") })
    }

    // MARK: - After

    /// What facts tell of customers and no decision on wallets is.
    private func saveOthers(_ facts: [StreamedFact], in transaction: inout Transaction) throws {
        for fact in facts {
            switch fact.body {
            case .userErased(let body):
                transaction.enqueue([
                    RestoreTables.retireName(of: body.customer, isErased: true, fact),
                    RestoreTables.forget(body.customer),
                ])
                transaction.enqueue([
                    .nameCustomer(body.customer, nil), .forgetIdentities(body.customer),
                    .forgetFormerNames(body.customer), .endOrders(body.customer), .dropSubmissions(body.customer),
                ])
            case .userTransferred(let body):
                guard let digest = body.userDigest else { continue }
                transaction.enqueue([
                    RestoreTables.retireName(of: body.customer, isErased: false, fact),
                    RestoreTables.forget(body.customer),
                    RestoreTables.remember([(customer: body.customer, app: fact.app, digest: digest)]),
                ])
                transaction.enqueue([.nameCustomer(body.customer, nil)])
            case .riskCleared(let body): transaction.enqueue([RestoreTables.clear(body, fact)])
            case .swept(let body):
                transaction.enqueue([
                    .markSwept(body.transactionIDs.map { TransactionKey(environment: .sandbox, transactionID: $0) })
                ])
            default: continue
            }
        }
    }
}
