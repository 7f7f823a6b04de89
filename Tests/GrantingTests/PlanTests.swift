import Messages
import Postgres
import TestSupport
import Testing

@testable import Granting
@testable import Pipeline

/// Statements are planned once per connection, perhaps while the tables are empty: the plan must be right for full ones
/// too, with and without statistics. One that reads a whole table costs nothing in every small test, and everything a
/// year later.
@Suite(.timeLimit(.minutes(5))) struct PlanTests {
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
        INSERT INTO granting.draws (lot, kind, source_id, amount)
        SELECT id, 'spend', 's' || id, 1 FROM granting.lots WHERE transaction_id LIKE 'old-%';
        INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id, environment,
            cause)
        SELECT owner, 'DANBING', 'IN', 60, 60, 'APPLE_IAP', transaction_id || '/0', environment, first_cause
        FROM granting.transactions WHERE transaction_id LIKE 'old-%';
        """

    @Test func `no statement that is planned on empty tables reads a whole one`() async throws {
        try await GrantingDatabase.with("plans_empty") { granting in
            var session = try granting.open()
            for (number, statement) in Self.statements(Self.keys, [Shop.alice]).enumerated() {
                _ = try session.connection.query("PREPARE plan_\(number) AS \(statement.sql)")
                // The values do not matter: the plan is made without them.
                let nulls = Array(repeating: "NULL", count: statement.values.count).joined(separator: ", ")
                let plan = try session.connection.query("EXPLAIN EXECUTE plan_\(number) (\(nulls))")
                let lines = try plan.map { try $0.text("QUERY PLAN") }
                let scans = lines.filter { $0.contains("Seq Scan on") }
                #expect(scans == [], "\(statement.sql)\n\(lines.joined(separator: "\n"))")
            }
        }
    }

    @Test(arguments: [0, 50])
    func `what was planned on small tables goes by index on a hundred thousand rows, with statistics and without`(
        counted: Int
    ) async throws {
        try await GrantingDatabase.with("plans_\(counted)") { granting in
            var filler = try granting.database.open()
            try filler.executeScript(Self.stillness)
            var session = try granting.open()
            if counted > 0 {
                let bought = try (1...counted).map { try verified(transaction("\($0)"), by: "\($0)") }
                _ = try session.run(GrantPurchases(), bought)
                try filler.executeScript("ANALYZE")
            }
            // Everything the test runs is planned here, the checks of foreign keys included.
            for statement in Self.statements(Self.keys, [Shop.alice]) { _ = try session.reads(of: statement) }
            _ = try session.reads(of: Self.purchases("first"))
            try filler.executeScript(Self.fill)
            let owners = try filler.query("SELECT customer FROM owners LIMIT 40").map {
                try $0.id("customer") as CustomerID
            }
            for statistics in ["", "ANALYZE"] {
                try filler.executeScript(statistics)
                // As lanes do, see PlanRenewal.
                _ = try session.connection.query(PlanRenewal.statement)
                for statement in Self.statements(Self.keys, owners) {
                    try session.reads(of: statement).check(statement.sql)
                }
                try session.reads(of: Self.purchases("then\(statistics)")).check("a batch of purchases")
            }
        }
    }

    @Test func `a page of wallets costs what its own rows cost, wherever it begins`() async throws {
        try await GrantingDatabase.with("plans_books") { granting in
            var filler = try granting.database.open()
            try filler.executeScript(Self.fill)
            let middle =
                try filler.query("SELECT customer FROM granting.customers ORDER BY customer OFFSET 15000 LIMIT 1")
                .single().id("customer") as CustomerID
            var session = try granting.open()
            let page = BooksTables.read(BooksPageRequested(after: middle, limit: 500), limit: 500)
            let plan = try session.connection.query("EXPLAIN (ANALYZE, COSTS OFF) " + page.sql, page.values)
                .map { try $0.text("QUERY PLAN") }
            let rejected = plan.filter { $0.contains("Rows Removed by") }.compactMap {
                $0.split(separator: " ").last.flatMap { Int($0) }
            }.reduce(0, +)
            // Of each account it is looked whether it differs.
            #expect(rejected <= 1_000, "\(plan.joined(separator: "\n"))")
        }
    }

    /// The server's own ANALYZE would come at any moment.
    private static let stillness = """
        DO $$ DECLARE name regclass; BEGIN
            FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'granting'::regnamespace AND relkind = 'r' LOOP
                EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
            END LOOP;
        END $$
        """

    /// Forty of the stored transactions.
    private static let keys = (1...40).map {
        TransactionKey(environment: .production, transactionID: TransactionID("old-\($0 * 997)"))
    }

    /// A batch of purchases by users who have bought before.
    private static func purchases(_ name: String) throws -> [Incoming] {
        try (1...40).map { try verified(transaction("\(name)-\($0)"), by: "old-user-\($0)") }
    }

    private static func statements(_ keys: [TransactionKey], _ owners: [CustomerID]) -> [Statement] {
        let purchases = keys.map { key in
            Purchase(statement: transaction(key.transactionID.rawValue), app: Shop.app)
        }
        let lots = keys.map { key in
            Lot(key: LotKey(purchase: key, asset: Shop.coins), customer: Shop.alice, amount: 60, remaining: 60)
        }
        let users = (1...40).map { UserKey(app: Shop.app, user: UserID("old-user-\($0)")) }
        let periods = keys.map {
            PeriodKey(
                environment: $0.environment, originalTransactionID: $0.transactionID, item: $0.transactionID.rawValue)
        }
        let ranges = owners.map { WalletTables.LotRange(customer: $0, asset: nil) }
        return [
            CustomerTables.find(users), CustomerTables.lock(owners), CustomerTables.possibleOwners(keys, [], []),
            CustomerTables.tokens([], keys), TransactionTable.lock(keys), TransactionTable.read(keys),
            TransactionTable.read(chains: keys, ownedBy: owners), TransactionTable.updateOutcomes(purchases),
            TransactionTable.cards([Shop.coins60, Shop.card], of: owners),
            TransactionTable.updateStatements(purchases), GrantTable.read(keys, chains: keys, ownedBy: owners),
            WalletTables.accounts(owners), WalletTables.lots(of: keys, chains: keys, ownedBy: owners),
            WalletTables.lots(ranges), WalletTables.clawbackDraws(of: keys, chains: keys, ownedBy: owners),
            WalletTables.debts(of: keys, chains: [], ownedBy: owners), WalletTables.update(lots),
            QueryTables.balances(BalanceRequested(app: Shop.app, userID: UserID("old-user-1"))),
            QueryTables.transactions(
                TransactionRequested(app: Shop.app, userID: UserID("old-user-1"), transactionID: TransactionID("old-1"))
            ),
            QueryTables.ledger(
                LedgerRequested(app: Shop.app, userID: UserID("old-user-1"), asset: nil, before: nil, limit: 50),
                limit: 50),
            HistoryTables.read(
                HistoryRequested(app: Shop.app, userID: UserID("old-user-1"), limit: 50), limit: 50),
            SubscriptionTables.owners(keys), SubscriptionTables.periods(periods),
            SubscriptionTables.transactions(of: periods),
            EntitlementTables.read(EntitlementsRequested(app: Shop.app, userID: UserID("old-user-1"))),
            TransactionTable.markHeld(
                TransactionTable.HeldRange(
                    app: Shop.app, version: 2, reasons: [.unknownProduct, .sandboxPolicy], limit: 40)),
        ]
    }
}

/// Rows PostgreSQL read for something.
private struct Reads {
    var scanned: Int64
    var fetched: Int64

    /// Rows that 40 keys may have to do with, with room: a dozen tables and references, a few rows each.
    private static let most: Int64 = 40 * 40

    func check(_ name: String) throws {
        #expect(scanned == 0, "whole tables: \(name)")
        #expect(fetched <= Self.most, "by index: \(name)")
    }
}

extension Session {
    /// What a statement reads. What it changes is undone.
    fileprivate mutating func reads(of statement: Statement) throws -> Reads {
        try reads { _ = try $0.query(statement.sql, statement.values) }
    }

    /// The same for a batch of purchases.
    fileprivate mutating func reads(of batch: [Incoming]) throws -> Reads {
        try reads { transaction in
            var handler = GrantPurchases()
            _ = try handler.handle(batch, in: &transaction)
        }
    }

    private mutating func reads(of body: (inout Transaction) throws -> Void) throws -> Reads {
        // What earlier transactions did may not have been flushed yet: only the difference counts.
        let sums = """
            SELECT sum(seq_tup_read)::bigint AS scanned, sum(idx_tup_fetch)::bigint AS fetched
            FROM pg_stat_xact_user_tables WHERE schemaname = 'granting'
            """
        var reads = Reads(scanned: 0, fetched: 0)
        #expect(throws: Undone.self) {
            try connection.transaction { transaction in
                let before = try transaction.query(sums).single()
                try body(&transaction)
                let after = try transaction.query(sums).single()
                reads.scanned = try after.int8("scanned") - before.int8("scanned")
                reads.fetched = try after.int8("fetched") - before.int8("fetched")
                throw Undone()
            }
        }
        return reads
    }

    private struct Undone: Error {}
}
