import Messages

/// The third round trip: what stands still now because its customers are locked, and could not be named before.
extension BookLoader {
    /// Reads more orders, grants, lots, draws, debts and spends, as far as the batch needs them. Most batches need none.
    func readWallets(_ books: inout Books, in tables: inout some BookTables & ~Copyable) throws {
        let customers = books.customers.keys.sorted()
        let chains = needs.chains
        let granted = Set(books.purchases.values.compactMap(\.grantKey)).union(books.periods.values).sorted()
        let spendKeys = self.spendKeys
        let numbers = orderNumbers(books)
        var queries: [BookQuery] = claimQueries(books)
        if !numbers.isEmpty { queries.append(.orders(numbers)) }
        if !chains.isEmpty { queries.append(.chain(chains, ownedBy: customers)) }
        if !granted.isEmpty || !chains.isEmpty {
            queries += [
                .grants(granted, chains: chains, ownedBy: customers),
                .lotsOfGrants(granted, chains: chains, ownedBy: customers),
                .clawbackDraws(granted, chains: chains, ownedBy: customers),
                .debts(granted, chains: chains, ownedBy: customers),
            ]
        }
        if movesDebts(books) { queries.append(.openDebts(customers)) }
        if needs.apps.contains(where: { books.catalog(of: $0).risk != nil }) {
            queries += [.countedRefunds(customers), .clearances(customers)]
        }
        let ranges = lotRanges(books)
        if !ranges.isEmpty { queries.append(.lots(ranges)) }
        if !spendKeys.isEmpty { queries.append(.spends(spendKeys)) }
        guard !queries.isEmpty else { return }
        books.take(over: try tables.run(queries))
    }

    /// The rows of starter offers that may be used up, or are asked about: whoever turns out to own a purchase, and
    /// whatever they are called. Locked after transactions and before wallets, as everywhere.
    private func claimQueries(_ books: Books) -> [BookQuery] {
        guard hasOffers(books) else { return [] }
        var bought: Set<StarterKey> = []
        for need in needs.purchases + needs.waiting
        where books.purchases[need.transaction.key]?.deliveredBy == nil {
            let versions = books.catalog(of: need.app).history[need.transaction.productID] ?? []
            let offers = Set(versions.compactMap(\.product.starter?.offer))
            guard !offers.isEmpty else { continue }
            let known = possibleOwners(need, books).flatMap { books.identities[$0] ?? [] }
            for offer in offers {
                bought.formUnion(
                    Set(known + callersIdentities).map {
                        StarterKey(
                            app: need.app, environment: need.transaction.environment, offer: offer, identity: $0)
                    })
            }
        }
        var asked = bought
        for token in needs.userTokens {
            let customers = callers.all(of: UserKey(app: token.app, user: token.userID))
            let known = customers.reduce(into: Set<IdentityHash>()) { $0.formUnion(books.identities[$1] ?? []) }
            for environment in StoreEnvironment.allCases {
                for offer in books.catalog(of: token.app).offers {
                    asked.formUnion(
                        known.union(token.identities?.filter(\.isUsable) ?? []).map {
                            StarterKey(app: token.app, environment: environment, offer: offer, identity: $0)
                        })
                }
            }
        }
        var queries: [BookQuery] = bought.isEmpty ? [] : [.insertClaims(bought.sorted())]
        if !asked.isEmpty { queries.append(.lockClaims(asked.sorted())) }
        return queries
    }

    /// Who the callers of this batch's purchases say they are: an earlier message of the batch may have said it of the
    /// same customer.
    private var callersIdentities: [IdentityHash] {
        needs.purchases.compactMap(\.identities).joined().filter(\.isUsable)
    }

    /// Whoever may turn out to own a purchase.
    private func possibleOwners(_ need: BookNeeds.PurchaseNeed, _ books: Books) -> [CustomerID] {
        let stored = books.purchases[need.transaction.key]
        let token = books.owner(ofToken: need.transaction.appAccountToken, in: need.app)
        let stamped = books.owner(ofToken: stored?.statement.appAccountToken, in: need.app)
        let caller = need.user.flatMap { callers.customer($0, at: need.at) } ?? need.customer
        let order = need.orderNumber.flatMap { books.orders[$0]?.customer }
        return [stored?.owner, token?.customer, stamped?.customer, caller, order].compactMap { $0 }
    }

    /// Whether anything may pay debts: a new grant where the app's policy says so, or a reversed refund.
    private func movesDebts(_ books: Books) -> Bool {
        (needs.purchases + needs.waiting).contains { need in
            books.catalog(of: need.app).debtRepaymentShare != nil || isRevoked(need, books)
        }
    }

    /// Whether any of a purchase, or of the period it tells of, is, or was, taken back by Apple.
    private func isRevoked(_ need: BookNeeds.PurchaseNeed, _ books: Books) -> Bool {
        need.transaction.revokedShare > 0
            || (books.purchases[need.transaction.key]?.statement.revokedShare ?? 0) > 0
            || ofPeriod(need, books).contains { $0.statement.revokedShare > 0 }
    }

    /// All transactions that tell of a purchase's period.
    private func ofPeriod(_ need: BookNeeds.PurchaseNeed, _ books: Books) -> [Purchase] {
        guard let period = need.transaction.period else { return [] }
        return books.purchases.values.filter { $0.statement.period == period }
    }

    /// Orders named by tokens and by earlier submissions, but not by the messages themselves.
    private func orderNumbers(_ books: Books) -> [OrderNumber] {
        var numbers = Set(books.tokens.values.compactMap(\.orderNumber))
        numbers.formUnion(books.purchases.values.compactMap(\.submittedOrder))
        return numbers.subtracting(needs.orderNumbers).sorted()
    }

    private var spendKeys: [SpendKey] {
        let keys = needs.spends.flatMap { spend in
            callers.all(of: UserKey(app: spend.app, user: spend.userID)).map {
                SpendKey(customer: $0, sourceID: spend.sourceID)
            }
        }
        return Array(Set(keys))
    }

    /// Whose lots may be drawn on: for spends one asset's, for a purchase that is or was partly revoked, and for a
    /// non-consumable, whose chain may be, everything of everybody who may own it.
    private func lotRanges(_ books: Books) -> [WalletTables.LotRange] {
        var ranges: Set<WalletTables.LotRange> = []
        for spend in needs.spends {
            for customer in callers.all(of: UserKey(app: spend.app, user: spend.userID)) {
                ranges.insert(WalletTables.LotRange(customer: customer, asset: spend.asset))
            }
        }
        for need in needs.purchases + needs.waiting {
            guard isRevoked(need, books) || need.transaction.isNonConsumable else { continue }
            let holder = need.transaction.period.flatMap { holders[$0] }
            let sharing = ofPeriod(need, books).map(\.owner)
            for customer in possibleOwners(need, books).map(Optional.some) + [holder] + sharing {
                guard let customer else { continue }
                ranges.insert(WalletTables.LotRange(customer: customer, asset: nil))
            }
        }
        return Array(ranges)
    }
}

extension Books {
    /// Begins with what was read together with the locks, whatever an earlier try has left.
    mutating func takeAnew(_ found: BookFindings) {
        now = found.now
        wallets = [:]
        for (key, account) in found.accounts { wallets[key.customer, default: [:]][key.asset] = account }
        userTokens = Dictionary(found.userTokens.map { ($0.token.customer, $0.key.token) }) { first, _ in first }
        identities = [:]
        for known in found.identities { identities[known.customer, default: []].insert(known.identity) }
        orders = Dictionary(found.orders.map { ($0.number, $0) }) { _, last in last }
        consents = Dictionary(found.consents.map { ($0.customer, $0) }) { _, newest in newest }
        consentCauses = Set(found.consents.map(\.cause))
    }

    /// Adds what stands still under the locks. What is known of a transaction from its own lock stays.
    mutating func take(over found: BookFindings) {
        for order in found.orders { orders[order.number] = order }
        for purchase in found.purchases where purchases[purchase.key] == nil { purchases[purchase.key] = purchase }
        for grant in found.grants { insert(grant) }
        for draw in found.draws {
            if let refunded = draw.refunded { clawbackDraws[refunded, default: []].append(draw) }
        }
        for debt in found.debts { debts[debt.key] = debt }
        for refund in found.countedRefunds { countedRefunds[refund.key] = refund }
        for (customer, instant) in found.clearances { clearedUntil[customer] = instant }
        for spend in found.spends { spends[spend.key] = spend }
        for claim in found.claims { claims[claim.key] = claim }
        for (_, lot) in found.lots.sorted(by: { $0.key < $1.key }) { insert(lot) }
    }
}
