import Messages

@testable import Granting

/// Queries that find without locking.
extension Database {
    /// Catalogues.
    func readCatalog(_ query: BookQuery, _ transaction: Int, _ found: inout BookFindings) {
        let rows = catalogs.rows(for: transaction)
        switch query {
        case .stamps(let apps):
            for app in apps {
                guard let row = rows.last(where: { $0.entry.app == app }) else { continue }
                let stamp = CatalogTables.Stamp(
                    version: row.entry.change.version, cause: row.entry.cause, importedAt: row.importedAt)
                found.stamps.append((app, stamp))
            }
        case .definition(let app, let version):
            found.definition =
                rows.first { $0.entry.app == app && $0.entry.change.version == version }?.entry.change.definition
        case .history(let app):
            for row in rows where row.entry.app == app {
                found.history += row.entry.change.products.map {
                    ProductVersion(version: row.entry.change.version, effectiveFrom: row.importedAt, product: $0)
                }
            }
        case .imported(let cause):
            found.imported = rows.first { $0.entry.cause == cause }.map {
                ($0.entry.change.version, $0.entry.change.definition)
            }
        default: break
        }
    }

    /// Everything that stands still under the locks of its customers.
    func readWallets(_ query: BookQuery, _ transaction: Int, _ found: inout BookFindings) {
        switch query {
        case .accounts(let owners):
            for (key, _) in accounts.cells where owners.contains(key.customer) {
                if let account = accounts.row(key, for: transaction) { found.accounts.append((key, account)) }
            }
        case .orders(let numbers): found.orders += numbers.compactMap { orders.row($0, for: transaction) }
        case .chain(let chains, let owners):
            found.purchases += transactions.rows(for: transaction).map(\.purchase).filter { purchase in
                chains.contains(Self.chain(of: purchase.statement))
                    && (purchase.owner.map { owners.contains($0) } ?? false)
            }
        case .cards(let owners, let products): found.purchases += cards(products, owners, transaction)
        case .grants(let keys, let chains, let owners):
            found.grants += grants(keys, chains, owners, transaction).map { grant in
                var grant = grant
                // As if nothing was known of what was taken so far.
                if mutation == .clawbackByDelta { grant.appliedShare = 0 }
                return grant
            }
        case .lotsOfGrants(let keys, let chains, let owners):
            let wanted = Set(grants(keys, chains, owners, transaction).map(\.key))
            read(lots.rows(for: transaction).filter { wanted.contains($0.lot.key.purchase) }, &found)
        case .clawbackDraws(let keys, let chains, let owners):
            let refunded = Set(grants(keys, chains, owners, transaction).filter { $0.revision > 0 }.map(\.key))
            let drawn = draws.rows(for: transaction).filter { draw in
                draw.refunded.map { refunded.contains($0) } ?? false
            }
            found.draws += drawn
            read(drawn.compactMap { lots.row($0.lot, for: transaction) }, &found)
        case .debts(let keys, let chains, let owners):
            let refunded = Set(grants(keys, chains, owners, transaction).filter { $0.revision > 0 }.map(\.key))
            found.debts += debts.rows(for: transaction).filter { refunded.contains($0.key.purchase) }
        case .openDebts(let owners):
            found.debts += debts.rows(for: transaction).filter { $0.open > 0 && owners.contains($0.customer) }
        case .lots(let ranges):
            let rows = lots.rows(for: transaction).filter { row in
                row.lot.remaining > 0
                    && ranges.contains {
                        $0.customer == row.lot.customer && ($0.asset == nil || $0.asset == row.lot.key.asset)
                    }
            }
            read(rows, &found)
        case .spends(let keys):
            if mutation != .spendIDNotChecked { found.spends += keys.compactMap { spends.row($0, for: transaction) } }
        default: break
        }
    }

    private func cards(_ products: [ProductID], _ owners: [CustomerID], _ transaction: Int) -> [Purchase] {
        transactions.rows(for: transaction).map(\.purchase).filter { purchase in
            products.contains(purchase.statement.productID) && (purchase.owner.map { owners.contains($0) } ?? false)
                && (purchase.deliveredBy == purchase.key.transactionID || purchase.heldReason == .ownedPermanently)
        }
    }

    private func read(_ rows: [LotRow], _ found: inout BookFindings) {
        for row in rows { found.lots[row.id] = row.lot }
    }

    private func grants(
        _ keys: [TransactionKey], _ chains: [TransactionKey], _ owners: [CustomerID], _ transaction: Int
    ) -> [Grant] {
        let own = keys.compactMap { grants.row($0, for: transaction) }
        guard !chains.isEmpty else { return own }
        return own
            + grants.rows(for: transaction).filter { grant in
                let original = TransactionKey(
                    environment: grant.key.environment, transactionID: grant.originalTransactionID)
                return grant.kind == .nonConsumable && chains.contains(original) && owners.contains(grant.customer)
                    && !keys.contains(grant.key)
            }
    }

    private static func chain(of statement: VerifiedTransaction) -> TransactionKey {
        TransactionKey(environment: statement.environment, transactionID: statement.originalTransactionID)
    }
}

extension Database {
    /// The catalogue that is in force from the beginning. Made once: its JSON takes longer than a short schedule.
    private static let firstCatalog: CatalogTables.Entry? = {
        let request = CatalogImportRequested(
            app: Story.app, actor: "operator", expectedVersion: 0, definition: Story.definition(withLate: false))
        guard case .accepted(let change) = CatalogImport.decide(request, on: .none) else { return nil }
        return try? CatalogTables.Entry(change, of: request, cause: MessageID("first"))
    }()

    /// Brings the first catalogue into force.
    func setUpCatalog() {
        guard let entry = Self.firstCatalog else { return violate("the first catalogue is refused") }
        let transaction = begin()
        catalogs.append(CatalogRow(entry: entry, importedAt: Story.beginning - 10_000), for: transaction)
        end(transaction, commits: true)
    }
}
