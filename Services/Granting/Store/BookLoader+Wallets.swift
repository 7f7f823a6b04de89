import Messages
import Pipeline
import Postgres

/// The third round trip: what stands still now because its customers are locked.
extension BookLoader {
    /// Reads orders, grants, balances, lots, draws, debts, spends and the clock, as far as the batch needs them.
    func readWallets(_ books: inout Books, in transaction: inout Transaction) throws {
        let customers = books.customers.keys.sorted()
        let chains = needs.chains
        let granted = Array(Set(books.purchases.values.compactMap(\.grantKey))).sorted()
        let spendKeys = self.spendKeys
        let numbers = orderNumbers(books)
        var readers: [(Statement, (Rows, inout Books) throws -> Void)] = [
            (Statement("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now"), Self.readClock),
            (WalletTables.accounts(customers), Self.readAccounts),
        ]
        if !numbers.isEmpty { readers.append((CustomerTables.orders(numbers), Self.readOrders)) }
        if !chains.isEmpty {
            readers.append((TransactionTable.read(chains: chains, ownedBy: customers), Self.readChain))
        }
        var lots: [Int64: Lot] = [:]
        func collect(_ rows: Rows) throws {
            for row in rows {
                let (id, lot) = try WalletTables.lot(row)
                lots[id] = lot
            }
        }
        if !granted.isEmpty || !chains.isEmpty {
            readers += [
                (GrantTable.read(granted, chains: chains, ownedBy: customers), Self.readGrants),
                (WalletTables.lots(of: granted, chains: chains, ownedBy: customers), { rows, _ in try collect(rows) }),
                (
                    WalletTables.clawbackDraws(of: granted, chains: chains, ownedBy: customers),
                    { rows, books in
                        try collect(rows)
                        try Self.readDraws(rows, &books)
                    }
                ),
                (WalletTables.debts(of: granted, chains: chains, ownedBy: customers), Self.readDebts),
            ]
        }
        let ranges = lotRanges(books)
        if !ranges.isEmpty { readers.append((WalletTables.lots(ranges), { rows, _ in try collect(rows) })) }
        if !spendKeys.isEmpty { readers.append((WalletTables.spends(spendKeys), Self.readSpends)) }
        let results = try transaction.pipeline(readers.map(\.0))
        for (reader, rows) in zip(readers, results) { try reader.1(rows, &books) }
        for (_, lot) in lots.sorted(by: { $0.key < $1.key }) { books.insert(lot) }
    }

    /// Orders named by messages, by tokens, and by earlier submissions.
    private func orderNumbers(_ books: Books) -> [OrderNumber] {
        var numbers = needs.orderNumbers
        numbers.formUnion(books.tokens.values.compactMap(\.orderNumber))
        numbers.formUnion(books.purchases.values.compactMap(\.submittedOrder))
        return numbers.sorted()
    }

    private var spendKeys: [SpendKey] {
        let keys = needs.spends.compactMap { spend in
            callers[UserKey(app: spend.app, user: spend.userID)].map {
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
            guard let customer = callers[UserKey(app: spend.app, user: spend.userID)] else { continue }
            ranges.insert(WalletTables.LotRange(customer: customer, asset: spend.asset))
        }
        for need in needs.purchases {
            let stored = books.purchases[need.transaction.key]
            let isRevoked = need.transaction.revokedShare > 0 || (stored?.statement.revokedShare ?? 0) > 0
            guard isRevoked || need.transaction.isNonConsumable else { continue }
            let token = books.owner(ofToken: need.transaction.appAccountToken, in: need.app)
            let stamped = books.owner(ofToken: stored?.statement.appAccountToken, in: need.app)
            let caller = need.user.flatMap { callers[$0] } ?? need.customer
            for customer in [stored?.owner, token?.customer, stamped?.customer, caller] {
                guard let customer else { continue }
                ranges.insert(WalletTables.LotRange(customer: customer, asset: nil))
            }
        }
        return Array(ranges)
    }

    private static func readClock(_ rows: Rows, _ books: inout Books) throws {
        books.now = try rows.single().int8("now")
    }

    private static func readAccounts(_ rows: Rows, _ books: inout Books) throws {
        for row in rows {
            books.wallets[try row.id("customer"), default: [:]][AssetID(try row.text("asset"))] = Account(
                balance: try row.int8("balance"), revision: try row.int8("revision"))
        }
    }

    private static func readOrders(_ rows: Rows, _ books: inout Books) throws {
        for row in rows {
            let order = try CustomerTables.order(row)
            books.orders[order.number] = order
        }
    }

    private static func readChain(_ rows: Rows, _ books: inout Books) throws {
        for row in rows {
            let purchase = try TransactionTable.purchase(row)
            if books.purchases[purchase.key] == nil { books.purchases[purchase.key] = purchase }
        }
    }

    private static func readGrants(_ rows: Rows, _ books: inout Books) throws {
        for row in rows { books.insert(try GrantTable.grant(row)) }
    }

    private static func readDraws(_ rows: Rows, _ books: inout Books) throws {
        for row in rows {
            let draw = try WalletTables.draw(row)
            guard let refunded = draw.refunded else { continue }
            books.clawbackDraws[refunded, default: []].append(draw)
        }
    }

    private static func readDebts(_ rows: Rows, _ books: inout Books) throws {
        for row in rows {
            let debt = try WalletTables.debt(row)
            books.debts[debt.key] = debt
        }
    }

    private static func readSpends(_ rows: Rows, _ books: inout Books) throws {
        for row in rows {
            let spend = try WalletTables.spend(row)
            books.spends[spend.key] = spend
        }
    }
}
