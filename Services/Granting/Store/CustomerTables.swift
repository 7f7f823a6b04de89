import Messages
import Pipeline
import Postgres

/// A user as a login names them.
struct UserKey: Hashable, Sendable, Comparable {
    /// The app.
    var app: AppID
    /// The user.
    var user: UserID

    /// The order in which missing customers are inserted.
    static func < (left: Self, right: Self) -> Bool { (left.app, left.user) < (right.app, right.user) }
}

/// `granting.customers`, `.tokens`, `.orders`.
enum CustomerTables {
    private static let orderColumns = """
        o.order_number, o.app, o.customer, o.product_id, o.token, o.expires_at, o.delivered_environment,
        o.delivered_transaction, o.sibling_of, o.cause
        """

    /// Inserts customers that are missing, in key order.
    static func insert(_ users: [UserKey]) -> Statement {
        Statement(
            """
            INSERT INTO granting.customers (app, user_id)
            SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING
            """, [.texts(users.map(\.app)), .texts(users.map(\.user))])
    }

    /// Which user that is, as facts tell it: a hash under a key that only this database has, so that whoever reads facts
    /// cannot try names. SHA-256 twice, the key in front, names apart by a zero byte, which no text of PostgreSQL holds.
    static func digest(_ app: String, _ user: String) -> String {
        let name = "convert_to(\(app), 'UTF8') || '\\x00'::bytea || convert_to(\(user), 'UTF8')"
        let hash = "encode(sha256(k.key || sha256(k.key || \(name))), 'hex')"
        return "(SELECT \(hash) FROM granting.restore_key k WHERE k.is_only)"
    }

    /// Gives users who come back the customers they were, where those were lost and restored from facts.
    static func adopt(_ users: [UserKey]) -> Statement {
        Statement(
            """
            WITH back AS (
                DELETE FROM granting.restored_customers r USING unnest($1::text[], $2::text[]) AS u (app, user_id)
                WHERE r.app = u.app AND r.digest = \(digest("u.app", "u.user_id"))
                    AND NOT EXISTS (SELECT FROM granting.customers o WHERE o.app = u.app AND o.user_id = u.user_id)
                RETURNING r.customer, u.user_id)
            UPDATE granting.customers c SET user_id = b.user_id FROM back b
            WHERE c.customer = b.customer AND c.user_id IS NULL
            """, [.texts(users.map(\.app)), .texts(users.map(\.user))])
    }

    /// The digests of users.
    static func digests(_ users: [UserKey]) -> Statement {
        Statement(
            """
            SELECT \(digest("u.app", "u.user_id")) AS digest
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS u (app, user_id, place) ORDER BY u.place
            """, [.texts(users.map(\.app)), .texts(users.map(\.user))])
    }

    /// The customers of users, unlocked.
    static func find(_ users: [UserKey]) -> Statement {
        Statement(
            """
            SELECT c.customer, c.app, c.user_id, NULL::text AS digest
            FROM unnest($1::text[], $2::text[]) AS u (app, user_id)
            JOIN granting.customers c ON c.app = u.app AND c.user_id = u.user_id
            """, [.texts(users.map(\.app)), .texts(users.map(\.user))])
    }

    /// Locks customers in key order, and with each its whole wallet.
    static func lock(_ customers: [CustomerID]) -> Statement {
        Statement(
            """
            SELECT c.customer, c.app, c.user_id, \(digest("c.app", "c.user_id")) AS digest
            FROM granting.customers c WHERE c.customer = ANY($1::uuid[])
            ORDER BY c.customer FOR NO KEY UPDATE
            """, [.uuids(customers)])
    }

    /// Everybody who may turn out to own one of these purchases, tokens or orders.
    static func possibleOwners(
        _ keys: [TransactionKey], _ tokens: [TokenKey], _ orders: [OrderNumber]
    ) -> Statement {
        Statement(
            """
            WITH keys AS (SELECT * FROM unnest($1::text[], $2::text[]) AS k (environment, transaction_id))
            SELECT t.owner AS customer FROM keys k
            JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
            WHERE t.owner IS NOT NULL
            UNION
            SELECT i.customer FROM keys k
            JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
            JOIN granting.tokens i ON i.app = t.app AND i.token = t.app_account_token
            UNION
            SELECT i.customer FROM unnest($3::text[], $4::uuid[]) AS n (app, token)
            JOIN granting.tokens i ON i.app = n.app AND i.token = n.token
            UNION
            SELECT o.customer FROM granting.orders o WHERE o.order_number = ANY($5::text[])
            """,
            SQLValue.keys(keys) + [.texts(tokens.map(\.app)), .uuids(tokens.map(\.token)), .texts(orders)])
    }

    /// The tokens named by messages and by stored transactions.
    static func tokens(_ tokens: [TokenKey], _ keys: [TransactionKey]) -> Statement {
        Statement(
            """
            SELECT i.app, i.token, i.customer, i.order_number FROM unnest($1::text[], $2::uuid[]) AS n (app, token)
            JOIN granting.tokens i ON i.app = n.app AND i.token = n.token
            UNION
            SELECT i.app, i.token, i.customer, i.order_number
            FROM unnest($3::text[], $4::text[]) AS k (environment, transaction_id)
            JOIN granting.transactions t ON t.environment = k.environment AND t.transaction_id = k.transaction_id
            JOIN granting.tokens i ON i.app = t.app AND i.token = t.app_account_token
            """, [.texts(tokens.map(\.app)), .uuids(tokens.map(\.token))] + SQLValue.keys(keys))
    }

    /// Orders by number. Not locked: they change only under their customer's lock.
    static func orders(_ numbers: [OrderNumber]) -> Statement {
        Statement(
            "SELECT \(orderColumns) FROM granting.orders o WHERE o.order_number = ANY($1::text[])", [.texts(numbers)])
    }

    /// Stores new orders, sibling orders among them.
    static func insert(_ orders: [Order]) -> Statement {
        Statement(
            """
            INSERT INTO granting.orders (order_number, app, customer, product_id, token, expires_at,
                delivered_environment, delivered_transaction, sibling_of, cause)
            SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::timestamptz[],
                $7::text[], $8::text[], $9::text[], $10::uuid[])
            """,
            [
                .texts(orders.map(\.number)), .texts(orders.map(\.app)), .uuids(orders.map(\.customer)),
                .texts(orders.map(\.productID)), .uuids(orders.map(\.token)), .timestampArray(orders.map(\.expiresAt)),
                .textArray(orders.map { $0.deliveredBy?.environment.rawValue }),
                .textArray(orders.map { $0.deliveredBy?.transactionID.rawValue }), .texts(orders.map(\.siblingOf)),
                .uuids(orders.map(\.cause)),
            ])
    }

    /// Stores the tokens issued with new orders.
    static func insertTokens(of orders: [Order]) -> Statement {
        Statement(
            """
            INSERT INTO granting.tokens (app, token, customer, order_number)
            SELECT * FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::text[])
            """,
            [
                .texts(orders.map(\.app)), .uuids(orders.map(\.token)), .uuids(orders.map(\.customer)),
                .texts(orders.map(\.number)),
            ])
    }

    /// Marks orders as delivered.
    static func deliver(_ orders: [Order]) -> Statement {
        Statement(
            """
            UPDATE granting.orders AS o
            SET delivered_environment = n.environment, delivered_transaction = n.transaction_id
            FROM unnest($1::text[], $2::text[], $3::text[]) AS n (order_number, environment, transaction_id)
            WHERE o.order_number = n.order_number
            """,
            [
                .texts(orders.map(\.number)), .textArray(orders.map { $0.deliveredBy?.environment.rawValue }),
                .textArray(orders.map { $0.deliveredBy?.transactionID.rawValue }),
            ])
    }

    /// A customer's row.
    static func customer(_ row: Row) throws -> Customer {
        Customer(
            id: try row.id("customer"), app: AppID(try row.text("app")), userID: try row.optionalName("user_id"),
            digest: try row.optionalText("digest"))
    }

    /// A token's row.
    static func token(_ row: Row) throws -> (TokenKey, IssuedToken) {
        (
            TokenKey(app: AppID(try row.text("app")), token: UUIDText.format(try row.uuid("token"))),
            IssuedToken(customer: try row.id("customer"), orderNumber: try row.optionalName("order_number"))
        )
    }

    /// An order's row.
    static func order(_ row: Row) throws -> Order {
        let isDelivered = try !row.isNull("delivered_transaction")
        return Order(
            number: OrderNumber(try row.text("order_number")), app: AppID(try row.text("app")),
            customer: try row.id("customer"), productID: ProductID(try row.text("product_id")),
            token: try row.optionalUUID("token").map { UUIDText.format($0) },
            expiresAt: try row.timestampMilliseconds("expires_at"), cause: try row.id("cause"),
            deliveredBy: isDelivered ? try row.transactionKey("delivered_environment", "delivered_transaction") : nil,
            siblingOf: try row.optionalName("sibling_of"))
    }
}
