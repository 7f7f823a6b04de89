import Messages
import Pipeline
import Postgres

/// Reading `granting.accounts`, `.lots`, `.draws`, `.debts`, `.spends`: all of it stands still under its customer's lock.
enum WalletTables {
    private static let lotColumns =
        "l.id, l.customer, l.asset, l.environment, l.transaction_id, l.amount, l.remaining, l.is_frozen"

    /// Whose lots are wanted: of one asset, or of all of them.
    struct LotRange: Hashable {
        /// Whose.
        var customer: CustomerID
        /// Of what; nil = everything.
        var asset: AssetID?
    }

    /// The balances of customers.
    static func accounts(_ customers: [CustomerID]) -> Statement {
        Statement(
            "SELECT customer, asset, balance, revision, spent FROM granting.accounts WHERE customer = ANY($1::uuid[])",
            [.uuids(customers)])
    }

    /// The lots of grants, and those of `owners`' non-consumables of these chains.
    static func lots(of keys: [TransactionKey], chains: [TransactionKey], ownedBy owners: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT \(lotColumns) FROM unnest($1::text[], $2::text[]) AS k (environment, transaction_id)
            JOIN granting.lots l ON l.environment = k.environment AND l.transaction_id = k.transaction_id
            UNION
            SELECT \(lotColumns) FROM unnest($3::text[], $4::text[]) AS k (environment, original)
            JOIN granting.grants g ON g.environment = k.environment AND g.original_transaction_id = k.original
            JOIN granting.lots l ON l.environment = g.environment AND l.transaction_id = g.transaction_id
            WHERE g.kind = 'non_consumable' AND g.customer = ANY($5::uuid[])
            """, SQLValue.keys(keys) + SQLValue.keys(chains) + [.uuids(owners)])
    }

    /// The lots with anything left: what spends and clawbacks can draw on.
    ///
    /// OFFSET 0 keeps the sub-select apart, so it goes by index, customer by customer: without statistics the planner
    /// thinks of a few hundred customers with hundreds of lots each and would read the whole table instead.
    static func lots(_ ranges: [LotRange]) -> Statement {
        Statement(
            """
            SELECT \(lotColumns) FROM unnest($1::uuid[], $2::text[]) AS k (customer, asset)
            CROSS JOIN LATERAL (SELECT * FROM granting.lots l
                WHERE l.customer = k.customer AND (k.asset IS NULL OR l.asset = k.asset) AND l.remaining > 0
                OFFSET 0) AS l
            """, [.uuids(ranges.map(\.customer)), .texts(ranges.map(\.asset))])
    }

    /// Which grants' refunds are asked for: the given ones and those of the chains, of the owners.
    private static let refunded = """
        SELECT g.environment, g.transaction_id FROM unnest($1::text[], $2::text[]) AS k (environment, transaction_id)
        JOIN granting.grants g ON g.environment = k.environment AND g.transaction_id = k.transaction_id
        WHERE g.revision > 0
        UNION
        SELECT g.environment, g.transaction_id FROM unnest($3::text[], $4::text[]) AS k (environment, original)
        JOIN granting.grants g ON g.environment = k.environment AND g.original_transaction_id = k.original
        WHERE g.revision > 0 AND g.kind = 'non_consumable' AND g.customer = ANY($5::uuid[])
        """

    /// What refunds of these purchases and payments of their debts drew, with the lots they drew on, in the order it happened.
    static func clawbackDraws(
        of keys: [TransactionKey], chains: [TransactionKey], ownedBy owners: [CustomerID]
    ) -> Statement {
        Statement(
            """
            WITH refunded AS (\(refunded))
            SELECT \(lotColumns), d.kind, d.source_id, d.amount AS drawn, d.refunded_environment, d.refunded_transaction
            FROM refunded r
            JOIN granting.draws d ON d.refunded_environment = r.environment AND d.refunded_transaction = r.transaction_id
            JOIN granting.lots l ON l.id = d.lot
            ORDER BY d.id
            """, SQLValue.keys(keys) + SQLValue.keys(chains) + [.uuids(owners)])
    }

    /// What refunds of these purchases could not take back.
    static func debts(of keys: [TransactionKey], chains: [TransactionKey], ownedBy owners: [CustomerID]) -> Statement {
        Statement(
            """
            WITH refunded AS (\(refunded))
            SELECT d.environment, d.transaction_id, d.asset, d.customer, d.amount, d.settled FROM refunded r
            JOIN granting.debts d ON d.environment = r.environment AND d.transaction_id = r.transaction_id
            """, SQLValue.keys(keys) + SQLValue.keys(chains) + [.uuids(owners)])
    }

    /// Decided spends.
    static func spends(_ keys: [SpendKey]) -> Statement {
        Statement(
            """
            SELECT s.customer, s.source_id, s.app, s.asset, s.amount, s.outcome, s.code, s.deadline, s.balance_after,
                s.cause
            FROM unnest($1::uuid[], $2::text[]) AS k (customer, source_id)
            JOIN granting.spends s ON s.customer = k.customer AND s.source_id = k.source_id
            """, [.uuids(keys.map(\.customer)), .textArray(keys.map(\.sourceID))])
    }

    /// A balance's row.
    static func account(_ row: Row) throws -> (key: AccountKey, account: Account) {
        (
            AccountKey(customer: try row.id("customer"), asset: AssetID(try row.text("asset"))),
            Account(balance: try row.int8("balance"), revision: try row.int8("revision"), spent: try row.int8("spent"))
        )
    }

    /// A lot's row, with its place in the order of spending.
    static func lot(_ row: Row) throws -> (id: Int64, lot: Lot) {
        let lot = Lot(
            key: try lotKey(row), customer: try row.id("customer"), amount: try row.int8("amount"),
            remaining: try row.int8("remaining"), isFrozen: try row.bool("is_frozen"))
        return (try row.int8("id"), lot)
    }

    /// A draw's row.
    static func draw(_ row: Row) throws -> Draw {
        Draw(
            lot: try lotKey(row), kind: try row.member("kind"), sourceID: try row.text("source_id"),
            refunded: try row.transactionKey("refunded_environment", "refunded_transaction"),
            amount: try row.int8("drawn"))
    }

    /// A debt's row.
    static func debt(_ row: Row) throws -> Debt {
        Debt(
            key: try lotKey(row), customer: try row.id("customer"), amount: try row.int8("amount"),
            settled: try row.int8("settled"))
    }

    /// A spend's row.
    static func spend(_ row: Row) throws -> Spend {
        Spend(
            key: SpendKey(customer: try row.id("customer"), sourceID: try row.text("source_id")),
            app: AppID(try row.text("app")), asset: AssetID(try row.text("asset")), amount: try row.int8("amount"),
            outcome: try row.member("outcome"), code: try row.optionalText("code").flatMap { AnswerCode(rawValue: $0) },
            deadline: try row.int8("deadline"), balanceAfter: try row.int8("balance_after"), cause: try row.id("cause"))
    }

    private static func lotKey(_ row: Row) throws -> LotKey {
        LotKey(purchase: try row.transactionKey(), asset: AssetID(try row.text("asset")))
    }
}
