import Messages
import Pipeline
import Postgres
import TestSupport
import Testing

@testable import Granting

/// The statements of a batch find their rows by index although nobody ever ran ANALYZE: a plan that reads a whole table
/// costs nothing in every small test, and everything a year later.
@Suite struct PlanTests {
    private static let rows = 100_000

    /// Customers, transactions, grants, accounts, lots, draws and ledger lines as 100,000 purchases would leave them.
    private static let fill = """
        INSERT INTO granting.customers (app, user_id) SELECT 'cloudpc', 'old-user-' || n FROM generate_series(1, 20000) n;
        CREATE TEMPORARY TABLE owners AS
            SELECT customer, row_number() OVER () - 1 AS place FROM granting.customers
            WHERE user_id LIKE 'old-user-%';
        INSERT INTO granting.accounts (customer, asset, balance, revision) SELECT customer, 'DANBING', 300, 1 FROM owners;
        INSERT INTO granting.transactions (environment, transaction_id, app, original_transaction_id, bundle_id, product_id,
            product_type, ownership, quantity, purchase_date, signed_date, revoked_share, payload_hash, owner, delivered_by,
            first_cause)
        SELECT 'Production', 'old-' || n, 'cloudpc', 'old-' || n, 'b', 'pyy_danbing_60', 'Consumable', 'PURCHASED', 1, 0, 0,
            0, '', o.customer, 'old-' || n, gen_random_uuid()
        FROM generate_series(1, \(rows)) n JOIN owners o ON o.place = n % 20000;
        INSERT INTO granting.grants (environment, transaction_id, app, customer, product_id, product_version, quantity, kind,
            original_transaction_id, cause)
        SELECT environment, transaction_id, app, owner, product_id, 1, 1, 'consumable', transaction_id, first_cause
        FROM granting.transactions WHERE transaction_id LIKE 'old-%';
        INSERT INTO granting.lots (customer, asset, environment, transaction_id, amount, remaining)
        SELECT owner, 'DANBING', environment, transaction_id, 60, 60 FROM granting.transactions
        WHERE transaction_id LIKE 'old-%';
        INSERT INTO granting.draws (lot, kind, source_id, amount) SELECT id, 'spend', 's' || id, 1 FROM granting.lots WHERE transaction_id LIKE 'old-%';
        """

    @Test func `a batch reads and writes by index on a hundred thousand rows without statistics`() async throws {
        try await GrantingDatabase.with("plans") { granting in
            var filler = try granting.database.open(parameters: ["statement_timeout": "60s"])
            try filler.executeScript(Self.fill)
            var session = try granting.open()
            let keys = (1...40).map {
                TransactionKey(environment: .production, transactionID: TransactionID("old-\($0 * 997)"))
            }
            let owners = try session.connection.query("SELECT customer FROM granting.customers LIMIT 40").map {
                try $0.id("customer") as CustomerID
            }
            for statement in Self.statements(keys, owners) {
                let plan = try session.connection.query("EXPLAIN " + statement.sql, statement.values)
                let lines = try plan.map { try $0.text("QUERY PLAN") }
                let scans = lines.filter { line in
                    line.contains("Seq Scan on")
                        && ["customers", "transactions", "grants", "lots", "draws", "accounts", "tokens", "orders"]
                            .contains { line.contains("Seq Scan on \($0) ") }
                }
                #expect(scans == [], "\(statement.sql)\n\(lines.joined(separator: "\n"))")
            }
        }
    }

    private static func statements(_ keys: [TransactionKey], _ owners: [CustomerID]) -> [Statement] {
        let purchases = keys.map { key in
            Purchase(statement: transaction(key.transactionID.rawValue), app: Shop.app)
        }
        let lots = keys.map { key in
            Lot(key: LotKey(purchase: key, asset: Shop.coins), customer: Shop.alice, amount: 60, remaining: 60)
        }
        let users = (1...40).map { UserKey(app: Shop.app, user: UserID("old-user-\($0)")) }
        let ranges = owners.map { WalletTables.LotRange(customer: $0, asset: nil) }
        return [
            CustomerTables.find(users), CustomerTables.lock(owners), CustomerTables.possibleOwners(keys, [], []),
            CustomerTables.tokens([], keys), TransactionTable.lock(keys), TransactionTable.read(keys),
            TransactionTable.read(chains: keys, ownedBy: owners), TransactionTable.updateOutcomes(purchases),
            TransactionTable.updateStatements(purchases), GrantTable.read(keys, chains: keys, ownedBy: owners),
            WalletTables.accounts(owners), WalletTables.lots(of: keys, chains: keys, ownedBy: owners),
            WalletTables.lots(ranges), WalletTables.clawbackDraws(of: keys, chains: keys, ownedBy: owners),
            WalletTables.debts(of: keys, chains: [], ownedBy: owners), WalletTables.update(lots),
            QueryTables.balances(BalanceRequested(app: Shop.app, userID: UserID("old-user-1"))),
            QueryTables.transactions(
                TransactionRequested(app: Shop.app, userID: UserID("old-user-1"), transactionID: TransactionID("old-1"))
            ),
        ]
    }
}
