import Messages
import Pipeline
import Postgres

/// `granting.transactions`: the statement Apple signed, and what we made of it.
enum TransactionTable {
    /// The statement's columns after the key, with the array type each is sent as.
    private static let statementColumns: [(name: String, type: String)] = [
        ("original_transaction_id", "text"), ("web_order_line_item_id", "text"), ("bundle_id", "text"),
        ("product_id", "text"), ("product_type", "text"), ("ownership", "text"), ("quantity", "bigint"),
        ("purchase_date", "bigint"), ("original_purchase_date", "bigint"), ("expires_date", "bigint"),
        ("signed_date", "bigint"), ("app_account_token", "uuid"), ("revoked_share", "bigint"),
        ("revocation_date", "bigint"), ("revocation_reason", "bigint"), ("revocation_type", "text"),
        ("revocation_percentage", "bigint"), ("is_upgraded", "boolean"), ("transaction_reason", "text"),
        ("price", "bigint"), ("currency", "text"), ("storefront", "text"), ("subscription_group_id", "text"),
        ("app_transaction_id", "text"), ("payload_hash", "text"),
    ]

    private static let names = statementColumns.map(\.name).joined(separator: ", ")
    /// A transaction's columns, of `granting.transactions AS t`.
    static let selected =
        (["environment", "transaction_id", "app"] + statementColumns.map(\.name) + [
            "owner", "submitter", "submitted_order", "order_number", "held_reason", "is_claimed_by_caller",
            "delivered_by", "first_cause",
        ]).map { "t." + $0 }.joined(separator: ", ")

    private static func parameters(from first: Int) -> String {
        statementColumns.enumerated().map { "$\($0.offset + first)::\($0.element.type)[]" }.joined(separator: ", ")
    }

    private static let insertSQL = """
        INSERT INTO granting.transactions (environment, transaction_id, app, first_cause, \(names))
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], \(parameters(from: 5)))
        ON CONFLICT DO NOTHING
        """
    private static let lockSQL = """
        SELECT \(selected)
        FROM unnest($1::text[], $2::text[]) AS k (environment, transaction_id)
        JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
        ORDER BY t.environment, t.transaction_id FOR NO KEY UPDATE OF t
        """
    private static let readSQL = """
        SELECT \(selected)
        FROM unnest($1::text[], $2::text[]) AS k (environment, transaction_id)
        JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
        """
    private static let chainSQL = """
        SELECT \(selected)
        FROM unnest($1::text[], $2::text[]) AS k (environment, original)
        JOIN granting.transactions t ON t.environment = k.environment AND t.original_transaction_id = k.original
        WHERE t.owner = ANY($3::uuid[])
        """
    private static let statementSQL = """
        UPDATE granting.transactions AS t SET \(statementColumns.map { "\($0.name) = n.\($0.name)" }.joined(separator: ", "))
        FROM unnest($1::text[], $2::text[], \(parameters(from: 3))) AS n (environment, transaction_id, \(names))
        WHERE t.environment = n.environment AND t.transaction_id = n.transaction_id
        """
    private static let outcomeSQL = """
        UPDATE granting.transactions AS t SET owner = n.owner, submitter = n.submitter,
            submitted_order = n.submitted_order, order_number = n.order_number, held_reason = n.held_reason,
            is_claimed_by_caller = n.is_claimed_by_caller, delivered_by = n.delivered_by,
            updated_at = clock_timestamp()
        FROM unnest($1::text[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::boolean[],
            $9::text[]) AS n (environment, transaction_id, owner, submitter, submitted_order, order_number, held_reason,
            is_claimed_by_caller, delivered_by)
        WHERE t.environment = n.environment AND t.transaction_id = n.transaction_id
        """

    /// Inserts the rows that are missing. `submissions` sorted by key, one a key.
    static func insert(_ submissions: [Submission]) -> Statement {
        let statements = submissions.map(\.transaction)
        return Statement(
            insertSQL,
            SQLValue.keys(statements.map(\.key)) + [.texts(submissions.map(\.app)), .uuids(submissions.map(\.cause))]
                + values(of: statements))
    }

    /// Locks and reads rows, in key order.
    static func lock(_ keys: [TransactionKey]) -> Statement { Statement(lockSQL, SQLValue.keys(keys)) }

    /// Reads rows as they are.
    static func read(_ keys: [TransactionKey]) -> Statement { Statement(readSQL, SQLValue.keys(keys)) }

    /// Reads all rows of chains of restores that belong to one of `owners`, who are locked and so keep these rows still.
    static func read(chains: [TransactionKey], ownedBy owners: [CustomerID]) -> Statement {
        Statement(chainSQL, SQLValue.keys(chains) + [.uuids(owners)])
    }

    /// What customers, who are locked and so keep it still, have of cards: a card is told by the statement of its grant, not
    /// by each restore.
    static func cards(_ products: [ProductID], of owners: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT \(selected) FROM granting.transactions t
            WHERE t.owner = ANY($1::uuid[]) AND t.product_id = ANY($2::text[])
                AND (t.delivered_by = t.transaction_id OR t.held_reason = 'owned_permanently')
            """, [.uuids(owners), .texts(products)])
    }

    /// Saves newer statements.
    static func updateStatements(_ purchases: [Purchase]) -> Statement {
        Statement(statementSQL, SQLValue.keys(purchases.map(\.key)) + values(of: purchases.map(\.statement)))
    }

    /// Saves what was decided.
    static func updateOutcomes(_ purchases: [Purchase]) -> Statement {
        Statement(
            outcomeSQL,
            SQLValue.keys(purchases.map(\.key)) + [
                .uuids(purchases.map(\.owner)), .uuids(purchases.map(\.submitter)),
                .texts(purchases.map(\.submittedOrder)), .texts(purchases.map(\.orderNumber)),
                .textArray(purchases.map { $0.heldReason?.rawValue }), .boolArray(purchases.map(\.isClaimedByCaller)),
                .texts(purchases.map(\.deliveredBy)),
            ])
    }

    /// Held purchases whose reason a change of catalogue or policy may have removed.
    struct HeldRange {
        /// Of which app.
        var app: AppID
        /// On account of which catalogue version.
        var version: Int64
        /// Held for one of these reasons.
        var reasons: [HeldReason]
        /// The oldest so many.
        var limit: Int64
    }

    /// Marks held purchases as asked for on account of a version. Rows that somebody is deciding on right now are
    /// skipped rather than waited for: locks are taken here out of order.
    static func markHeld(_ range: HeldRange) -> Statement {
        Statement(
            """
            UPDATE granting.transactions AS t SET redriven_version = $2
            FROM (SELECT h.environment, h.transaction_id FROM granting.transactions h
                WHERE h.app = $1 AND h.held_reason = ANY($3::text[]) AND h.redriven_version < $2
                ORDER BY h.created_at LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED) AS h
            WHERE t.environment = h.environment AND t.transaction_id = h.transaction_id
            RETURNING t.environment, t.transaction_id
            """,
            [
                .text(range.app.rawValue), .int8(range.version), .textArray(range.reasons.map(\.rawValue)),
                .int8(range.limit),
            ])
    }

    /// The values of ``statementColumns``, in order.
    private static func values(of statements: [VerifiedTransaction]) -> [SQLValue] {
        [
            .texts(statements.map(\.originalTransactionID)), .textArray(statements.map(\.webOrderLineItemID)),
            .textArray(statements.map(\.bundleID)), .texts(statements.map(\.productID)),
            .textArray(statements.map(\.productType)), .textArray(statements.map(\.ownership)),
            .int8Array(statements.map(\.quantity)), .int8Array(statements.map(\.purchaseDate)),
            .int8Array(statements.map(\.originalPurchaseDate)), .int8Array(statements.map(\.expiresDate)),
            .int8Array(statements.map(\.signedDate)), .uuids(statements.map(\.appAccountToken)),
            .int8Array(statements.map(\.revokedShare)), .int8Array(statements.map(\.revocationDate)),
            .int8Array(statements.map(\.revocationReason)), .textArray(statements.map(\.revocationType)),
            .int8Array(statements.map(\.revocationPercentage)), .boolArray(statements.map(\.isUpgraded)),
            .textArray(statements.map(\.transactionReason)), .int8Array(statements.map(\.price)),
            .textArray(statements.map(\.currency)), .textArray(statements.map(\.storefront)),
            .textArray(statements.map(\.subscriptionGroupID)), .textArray(statements.map(\.appTransactionID)),
            .textArray(statements.map(\.payloadHash)),
        ]
    }

    /// A row as the decisions see it.
    static func purchase(_ row: Row) throws -> Purchase {
        var purchase = Purchase(statement: try statement(row), app: AppID(try row.text("app")))
        purchase.owner = try row.optionalID("owner")
        purchase.submitter = try row.optionalID("submitter")
        purchase.submittedOrder = try row.optionalName("submitted_order")
        purchase.orderNumber = try row.optionalName("order_number")
        purchase.heldReason = try row.optionalText("held_reason").flatMap { HeldReason(rawValue: $0) }
        purchase.isClaimedByCaller = try row.bool("is_claimed_by_caller")
        purchase.deliveredBy = try row.optionalName("delivered_by")
        purchase.firstCause = try row.id("first_cause")
        return purchase
    }

    private static func statement(_ row: Row) throws -> VerifiedTransaction {
        var statement = VerifiedTransaction(
            environment: try row.book("environment"), transactionID: TransactionID(try row.text("transaction_id")),
            originalTransactionID: TransactionID(try row.text("original_transaction_id")),
            bundleID: try row.text("bundle_id"), productID: ProductID(try row.text("product_id")),
            productType: try row.text("product_type"), ownership: try row.text("ownership"),
            quantity: try row.int8("quantity"), purchaseDate: try row.int8("purchase_date"),
            signedDate: try row.int8("signed_date"), payloadHash: try row.text("payload_hash"))
        statement.webOrderLineItemID = try row.optionalText("web_order_line_item_id")
        statement.originalPurchaseDate = try row.optionalInt8("original_purchase_date")
        statement.expiresDate = try row.optionalInt8("expires_date")
        statement.appAccountToken = try row.optionalUUID("app_account_token").map { UUIDText.format($0) }
        statement.revocationDate = try row.optionalInt8("revocation_date")
        statement.revocationReason = try row.optionalInt8("revocation_reason")
        statement.revocationType = try row.optionalText("revocation_type")
        statement.revocationPercentage = try row.optionalInt8("revocation_percentage")
        statement.isUpgraded = try row.optionalBool("is_upgraded")
        statement.transactionReason = try row.optionalText("transaction_reason")
        statement.price = try row.optionalInt8("price")
        statement.currency = try row.optionalText("currency")
        statement.storefront = try row.optionalText("storefront")
        statement.subscriptionGroupID = try row.optionalText("subscription_group_id")
        statement.appTransactionID = try row.optionalText("app_transaction_id")
        return statement
    }
}
