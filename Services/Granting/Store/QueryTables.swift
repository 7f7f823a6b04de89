import Messages
import Pipeline
import Postgres

/// What questions read: only the asker's own rows.
enum QueryTables {
    /// The catalogue in force.
    static func catalog(_ question: CatalogRequested) -> Statement {
        Statement(
            """
            SELECT version, definition FROM granting.catalog_versions WHERE app = $1 ORDER BY version DESC LIMIT 1
            """, [.text(question.app.rawValue)])
    }

    /// A user's balances, sorted by asset.
    static func balances(_ question: BalanceRequested) -> Statement {
        Statement(
            """
            SELECT a.asset, a.balance, a.spent FROM granting.customers c JOIN granting.accounts a ON a.customer = c.customer
            WHERE c.app = $1 AND c.user_id = $2 ORDER BY a.asset
            """, [.text(question.app.rawValue), .text(question.userID.rawValue)])
    }

    /// A page of a user's ledger, newest first, and one row more to know whether another page follows.
    ///
    /// The page is cut inside the sub-select, so it is read from the end of the customer's part of an index, whatever
    /// the planner thinks of how many lines a customer or the whole ledger has.
    static func ledger(_ question: LedgerRequested, limit: Int64) -> Statement {
        Statement(
            """
            SELECT l.id, l.asset, l.direction, l.amount, l.balance_after, l.source_type, l.source_id, l.remark,
                l.environment, l.created_at
            FROM granting.customers c
            CROSS JOIN LATERAL (SELECT * FROM granting.ledger l
                WHERE l.customer = c.customer AND ($3::text IS NULL OR l.asset = $3)
                    AND ($4::bigint IS NULL OR l.id < $4)
                ORDER BY l.id DESC LIMIT $5) AS l
            WHERE c.app = $1 AND c.user_id = $2 ORDER BY l.id DESC
            """,
            [
                .text(question.app.rawValue), .text(question.userID.rawValue), .text(question.asset?.rawValue),
                .int8(question.before), .int8(limit + 1),
            ])
    }

    /// A user's own transaction, in either environment.
    static func transactions(_ question: TransactionRequested) -> Statement {
        Statement(
            """
            SELECT t.environment, t.transaction_id, t.product_id, t.quantity, t.order_number, t.held_reason,
                t.revoked_share, t.purchase_date, g.granted_at, g.applied_share, l.assets, l.amounts, v.code,
                d.owed_assets, d.owed_amounts
            FROM granting.customers c
            JOIN granting.transactions t ON t.owner = c.customer
            LEFT JOIN granting.grants g ON g.environment = t.environment AND g.transaction_id = t.delivered_by
            LEFT JOIN granting.product_versions v ON v.app = g.app AND v.product_id = g.product_id
                AND v.version = g.product_version
            CROSS JOIN LATERAL (SELECT array_agg(d.asset::text ORDER BY d.asset) AS owed_assets,
                    array_agg(d.amount - d.settled ORDER BY d.asset) AS owed_amounts
                FROM granting.debts d
                WHERE d.environment = g.environment AND d.transaction_id = g.transaction_id
                    AND d.amount > d.settled) AS d
            CROSS JOIN LATERAL (SELECT array_agg(l.asset::text ORDER BY l.asset) AS assets,
                    array_agg(l.amount ORDER BY l.asset) AS amounts
                FROM granting.lots l
                WHERE l.environment = g.environment AND l.transaction_id = g.transaction_id) AS l
            WHERE c.app = $1 AND c.user_id = $2
                AND t.environment IN ('Production', 'Sandbox') AND t.transaction_id = $3
            ORDER BY t.environment
            """,
            [
                .text(question.app.rawValue), .text(question.userID.rawValue),
                .text(question.transactionID.rawValue),
            ])
    }

    /// The answer to a catalogue question.
    static func catalog(_ rows: Rows) throws -> CatalogAnswered {
        guard let row = rows.first else { return CatalogAnswered(catalogVersion: 0, definition: nil, problems: []) }
        return CatalogAnswered(
            catalogVersion: try row.int8("version"),
            definition: try CatalogTables.decode(try row.json("definition")), problems: [])
    }

    /// Balances, and what was ever spent of each.
    static func balances(_ rows: Rows) throws -> BalanceAnswered {
        func amounts(_ column: String) throws -> [AssetAmount] {
            try rows.map { AssetAmount(asset: AssetID(try $0.text("asset")), amount: try $0.int8(column)) }
        }
        return BalanceAnswered(balances: try amounts("balance"), spent: try amounts("spent"))
    }

    /// A page, and where the next one begins.
    static func page(_ rows: Rows, limit: Int64) throws -> LedgerAnswered {
        let entries = try rows.prefix(Int(limit)).map { row in
            LedgerEntry(
                id: try row.int8("id"), asset: AssetID(try row.text("asset")), direction: try row.member("direction"),
                amount: try row.int8("amount"), balanceAfter: try row.int8("balance_after"),
                sourceType: try row.text("source_type"), sourceID: try row.text("source_id"),
                remark: try row.optionalText("remark"),
                environment: StoreEnvironment(rawValue: try row.text("environment")),
                createdAt: try row.timestampMilliseconds("created_at"))
        }
        return LedgerAnswered(entries: entries, nextBefore: rows.count > Int(limit) ? entries.last?.id : nil)
    }

    /// A transaction as its owner may see it.
    static func summary(_ row: Row) throws -> TransactionSummary {
        let granted = try amounts(row, "assets", "amounts")
        let held = try row.optionalText("held_reason").flatMap { HeldReason(rawValue: $0) }
        let share = try row.optionalInt8("applied_share") ?? row.int8("revoked_share")
        let isRevoked = share == VerifiedTransaction.wholeShare
        let isGranted = try !row.isNull("granted_at")
        var summary = TransactionSummary(
            transactionID: TransactionID(try row.text("transaction_id")), environment: try row.book("environment"),
            productID: ProductID(try row.text("product_id")), quantity: try row.int8("quantity"),
            orderNumber: try row.optionalName("order_number"),
            status: isRevoked ? "REVOKED" : isGranted ? "GRANTED" : "HELD", heldReason: held,
            amounts: granted,
            revokedShare: share, purchaseDate: try row.int8("purchase_date"),
            grantedAt: try row.optionalTimestampMilliseconds("granted_at"))
        summary.productCode = try row.optionalText("code")
        let owed = try amounts(row, "owed_assets", "owed_amounts")
        summary.owed = owed.isEmpty ? nil : owed
        return summary
    }

    /// Amounts out of two arrays of equal length; none if they are NULL.
    static func amounts(_ row: Row, _ assets: String, _ amounts: String) throws -> [AssetAmount] {
        guard try !row.isNull(assets) else { return [] }
        return zip(try row.textArray(assets), try row.int8Array(amounts)).map {
            AssetAmount(asset: AssetID($0 ?? ""), amount: $1 ?? 0)
        }
    }
}
