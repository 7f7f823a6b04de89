import Messages
import Pipeline
import Postgres

/// `granting.grants`. Rows change only under their customer's lock.
enum GrantTable {
    private static let columns = """
        g.environment, g.transaction_id, g.app, g.customer, g.product_id, g.product_version, g.quantity, g.kind,
        g.original_transaction_id, g.web_order_line_item_id, g.order_number, g.cause, g.revision, g.applied_share,
        g.starter_units, g.swept_at IS NOT NULL AS is_swept
        """

    /// Grants of transactions, and of the chains of non-consumables that one of `owners` may hold.
    static func read(_ keys: [TransactionKey], chains: [TransactionKey], ownedBy owners: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT \(columns) FROM unnest($1::text[], $2::text[]) AS k (environment, transaction_id)
            JOIN granting.grants g ON g.environment = k.environment AND g.transaction_id = k.transaction_id
            UNION
            SELECT \(columns) FROM unnest($3::text[], $4::text[]) AS k (environment, original)
            JOIN granting.grants g ON g.environment = k.environment AND g.original_transaction_id = k.original
            WHERE g.kind = 'non_consumable' AND g.customer = ANY($5::uuid[])
            """, SQLValue.keys(keys) + SQLValue.keys(chains) + [.uuids(owners)])
    }

    /// Stores new grants.
    static func insert(_ grants: [Grant]) -> Statement {
        Statement(
            """
            INSERT INTO granting.grants (environment, transaction_id, app, customer, product_id, product_version,
                quantity, kind, original_transaction_id, order_number, cause, revision, applied_share,
                web_order_line_item_id, starter_units)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[],
                $8::text[], $9::text[], $10::text[], $11::uuid[], $12::bigint[], $13::bigint[], $14::text[],
                $15::bigint[])
            """,
            SQLValue.keys(grants.map(\.key)) + [
                .texts(grants.map(\.app)), .uuids(grants.map(\.customer)), .texts(grants.map(\.productID)),
                .int8Array(grants.map(\.productVersion)), .int8Array(grants.map(\.quantity)),
                .textArray(grants.map(\.kind.rawValue)), .texts(grants.map(\.originalTransactionID)),
                .texts(grants.map(\.orderNumber)), .uuids(grants.map(\.cause)), .int8Array(grants.map(\.revision)),
                .int8Array(grants.map(\.appliedShare)), .textArray(grants.map(\.lineItem)),
                .int8Array(grants.map(\.starterUnits)),
            ])
    }

    /// Saves which revoked share the wallet reflects.
    static func update(_ grants: [Grant]) -> Statement {
        Statement(
            """
            UPDATE granting.grants AS g SET revision = n.revision, applied_share = n.applied_share
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
                AS n (environment, transaction_id, revision, applied_share)
            WHERE g.environment = n.environment AND g.transaction_id = n.transaction_id
            """,
            SQLValue.keys(grants.map(\.key))
                + [.int8Array(grants.map(\.revision)), .int8Array(grants.map(\.appliedShare))])
    }

    /// A grant's row.
    static func grant(_ row: Row) throws -> Grant {
        Grant(
            key: try row.transactionKey(), app: AppID(try row.text("app")), customer: try row.id("customer"),
            productID: ProductID(try row.text("product_id")), productVersion: try row.int8("product_version"),
            quantity: try row.int8("quantity"), kind: try row.member("kind"),
            originalTransactionID: TransactionID(try row.text("original_transaction_id")),
            orderNumber: try row.optionalName("order_number"), cause: try row.id("cause"),
            lineItem: try row.optionalText("web_order_line_item_id"),
            starterUnits: try row.optionalInt8("starter_units"),
            revision: try row.int8("revision"), appliedShare: try row.int8("applied_share"),
            isSwept: try row.bool("is_swept"))
    }
}
