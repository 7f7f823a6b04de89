import Observability
import Postgres

/// What a hand with all rights does to the books. Blocking, for one thread.
struct HandPlanting: ~Copyable {
    private var connection: Connection

    /// - Parameter superuser: conninfo of who may change everything.
    init(_ superuser: Secret) throws {
        connection = try Connection.open(
            superuser, applicationName: "purser-drills planting", parameters: ["statement_timeout": "60s"])
    }

    /// Puts the ledger line of purchases in a second time; for each its account, as findings name it.
    mutating func doubleLines(_ transactions: [String]) throws -> [(transaction: String, account: String)] {
        try connection.query(
            """
            INSERT INTO granting.ledger (customer, asset, direction, amount, balance_after, source_type, source_id,
                environment, cause)
            SELECT l.customer, l.asset, l.direction, l.amount, l.balance_after, l.source_type, l.source_id || '0',
                l.environment, l.cause
            FROM unnest($1::text[]) AS t(id)
            JOIN granting.grants g ON g.environment = 'Production' AND g.transaction_id = t.id
            JOIN granting.ledger l ON l.customer = g.customer AND l.environment = g.environment
                AND l.source_type = 'APPLE_IAP' AND split_part(l.source_id, '/', 1) = t.id
            RETURNING split_part(source_id, '/', 1) AS id, 'cloudpc/' || customer || '/' || asset AS account
            """, [.textArray(transactions)]
        ).map { (try $0.text("id"), try $0.text("account")) }
    }

    /// Puts one unit into the accounts of purchases; the accounts.
    mutating func overpay(_ transactions: [String]) throws -> [String] {
        try connection.query(
            """
            UPDATE granting.accounts a SET balance = a.balance + 1 FROM granting.lots l
            WHERE l.environment = 'Production' AND l.transaction_id = ANY($1::text[]) AND a.customer = l.customer
                AND a.asset = l.asset
            RETURNING 'cloudpc/' || a.customer || '/' || a.asset AS account
            """, [.textArray(transactions)]
        ).map { try $0.text("account") }
    }

    /// Takes from orders that they were delivered; how many.
    mutating func forgetDelivery(_ transactions: [String]) throws -> Int {
        try connection.query(
            """
            UPDATE granting.orders SET delivered_environment = NULL, delivered_transaction = NULL
            WHERE delivered_environment = 'Production' AND delivered_transaction = ANY($1::text[])
            RETURNING order_number
            """, [.textArray(transactions)]
        ).count
    }

    consuming func close() { connection.close() }
}
