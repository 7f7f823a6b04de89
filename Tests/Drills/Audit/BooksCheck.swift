import Observability
import Postgres

/// Compares the database with what the drill knows, by its own SQL, as the read-only auditor.
struct BooksCheck: ~Copyable {
    private var connection: Connection
    private let findings: Findings

    /// A grant as it is stored.
    struct Grant {
        let transactionID: String
        let environment: String
        let user: String
        let productID: String
        let quantity: Int64
    }

    /// What is owed because a refund found it spent.
    struct Debt {
        let user: String
        let asset: String
        let transactionID: String
        let open: Int64
    }

    init(_ auditor: Secret, _ findings: Findings) throws {
        // The auditor's sessions are read-only, which is what a service takes for a replica.
        connection = try Connection.open(
            Secret(auditor.reveal() + " target_session_attrs=any"), applicationName: "purser-drills",
            parameters: ["statement_timeout": "60s"])
        self.findings = findings
    }

    /// Facts that were not announced yet, of all services.
    mutating func unannounced() throws -> Int64 {
        try number(
            "SELECT (SELECT count(*) FROM verification.unannounced) + (SELECT count(*) FROM granting.unannounced)"
                + " + (SELECT count(*) FROM intake.unannounced)"
                + " + (SELECT count(*) FROM reconciliation.unannounced)")
    }

    /// Genuine purchases that are held: counted apart from those that could not be handled.
    mutating func held() throws -> Int64 {
        try number("SELECT count(*) FROM granting.transactions WHERE held_reason IS NOT NULL")
    }

    /// All grants.
    mutating func grants() throws -> [Grant] {
        try connection.query(
            """
            SELECT transaction_id, environment, user_id, product_id, quantity
            FROM granting.grants JOIN granting.customers USING (customer)
            """
        ).map { row in
            Grant(
                transactionID: try row.text("transaction_id"), environment: try row.text("environment"),
                user: try row.optionalText("user_id") ?? "", productID: try row.text("product_id"),
                quantity: try row.int8("quantity"))
        }
    }

    /// Everything that can be said without knowing what was bought: INV1, INV3, INV4, INV5, INV8.
    mutating func checkItself() throws {
        for check in Self.checks {
            findings.check(check.promise, check.what, none: try number("SELECT count(*) FROM (\(check.sql)) AS wrong"))
        }
    }

    /// Balances by user and asset; zeros are left out.
    mutating func balances() throws -> [String: [String: Int64]] {
        var balances: [String: [String: Int64]] = [:]
        for row in try connection.query(
            """
            SELECT user_id, asset, balance FROM granting.accounts JOIN granting.customers USING (customer)
            WHERE balance <> 0
            """)
        {
            balances[try row.optionalText("user_id") ?? "", default: [:]][try row.text("asset")] = try row.int8(
                "balance")
        }
        return balances
    }

    /// All debts that are not paid.
    mutating func openDebts() throws -> [Debt] {
        try connection.query(
            """
            SELECT user_id, asset, transaction_id, amount - settled AS open
            FROM granting.debts JOIN granting.customers USING (customer) WHERE settled < amount
            """
        ).map { row in
            Debt(
                user: try row.optionalText("user_id") ?? "", asset: try row.text("asset"),
                transactionID: try row.text("transaction_id"), open: try row.int8("open"))
        }
    }

    /// Spends by id: what was decided.
    mutating func spends() throws -> [String: (outcome: String, amount: Int64, balanceAfter: Int64)] {
        var spends: [String: (outcome: String, amount: Int64, balanceAfter: Int64)] = [:]
        for row in try connection.query("SELECT source_id, outcome, amount, balance_after FROM granting.spends") {
            spends[try row.text("source_id")] = (
                try row.text("outcome"), try row.int8("amount"), try row.int8("balance_after")
            )
        }
        return spends
    }

    /// The facts of Granting that observers are told, by id.
    mutating func facts(ofTypes types: [String]) throws -> [String: FactsCheck.Fact] {
        var facts: [String: FactsCheck.Fact] = [:]
        for row in try connection.query(
            """
            SELECT id::text AS id, type, key, revision, cause::text AS cause, body FROM granting.facts
            WHERE type = ANY($1::text[])
            """, [.textArray(types.map { $0 })])
        {
            facts[try row.text("id")] = FactsCheck.Fact(
                type: try row.text("type"), key: try row.text("key"), revision: try row.int8("revision"),
                cause: try row.text("cause"), body: try row.text("body"))
        }
        return facts
    }

    private mutating func number(_ sql: String) throws -> Int64 {
        try connection.query("SELECT (\(sql))::bigint AS n").single().int8("n")
    }
}

extension BooksCheck {
    /// Queries whose rows must not exist.
    private static let checks: [(promise: String, what: String, sql: String)] = [
        (
            "INV1", "every transaction is granted at most once, by one line of the ledger and one lot an asset",
            """
            SELECT FROM granting.grants AS g
            JOIN granting.product_amounts AS a USING (app, product_id)
            WHERE a.version = g.product_version AND g.starter_units IS NULL AND (
                1 <> (SELECT count(*) FROM granting.ledger AS l WHERE l.customer = g.customer AND l.asset = a.asset
                    AND l.environment = g.environment AND l.source_type = 'APPLE_IAP'
                    AND l.source_id = g.transaction_id || '/0' AND l.direction = 'IN'
                    AND l.amount = a.amount * g.quantity)
                OR 1 <> (SELECT count(*) FROM granting.lots AS l WHERE l.environment = g.environment
                    AND l.transaction_id = g.transaction_id AND l.asset = a.asset))
            UNION ALL SELECT FROM granting.grants GROUP BY environment, transaction_id HAVING count(*) > 1
            """
        ),
        (
            "INV3", "every balance is the sum of its ledger, the sum of its lots, and what the last line says",
            """
            SELECT FROM granting.accounts AS account WHERE
                balance IS DISTINCT FROM (SELECT coalesce(sum(CASE direction WHEN 'IN' THEN amount ELSE -amount END), 0)
                    FROM granting.ledger WHERE customer = account.customer AND asset = account.asset)
                OR balance IS DISTINCT FROM (SELECT coalesce(sum(remaining), 0)
                    FROM granting.lots WHERE customer = account.customer AND asset = account.asset)
                OR balance IS DISTINCT FROM (SELECT balance_after FROM granting.ledger
                    WHERE customer = account.customer AND asset = account.asset ORDER BY id DESC LIMIT 1)
            """
        ),
        (
            "INV3", "the sum of all ledgers is the sum of all balances",
            """
            SELECT WHERE (SELECT coalesce(sum(CASE direction WHEN 'IN' THEN amount ELSE -amount END), 0)
                FROM granting.ledger) <> (SELECT coalesce(sum(balance), 0) FROM granting.accounts)
            """
        ),
        (
            "INV3", "every line of a ledger continues the one before it",
            """
            SELECT FROM (SELECT balance_after, CASE direction WHEN 'IN' THEN amount ELSE -amount END AS delta,
                coalesce(lag(balance_after) OVER (PARTITION BY customer, asset ORDER BY id), 0) AS before
                FROM granting.ledger) AS lines WHERE balance_after <> before + delta
            """
        ),
        (
            "INV3", "what is left of a lot is its amount without its draws",
            """
            SELECT FROM granting.lots WHERE remaining <> amount
                - (SELECT coalesce(sum(d.amount), 0) FROM granting.draws AS d WHERE d.lot = lots.id)
            """
        ),
        ("INV4", "no balance is negative", "SELECT FROM granting.accounts WHERE balance < 0"),
        (
            "INV5", "every line of a ledger has its grant, its spend, or the purchase that was refunded",
            """
            SELECT FROM granting.ledger AS l WHERE CASE source_type
                WHEN 'APPLE_IAP' THEN NOT EXISTS (SELECT FROM granting.grants AS g WHERE g.customer = l.customer
                    AND g.environment = l.environment AND g.transaction_id || '/0' = l.source_id)
                WHEN 'APP_USAGE' THEN NOT EXISTS (SELECT FROM granting.spends AS s WHERE s.customer = l.customer
                    AND s.source_id = l.source_id AND s.outcome = 'spent' AND s.asset = l.asset
                    AND s.amount = l.amount AND s.balance_after = l.balance_after)
                -- Refunds, their reversals, and debts paid: all begin with the transaction that was refunded.
                ELSE NOT EXISTS (SELECT FROM granting.grants AS g WHERE g.customer = l.customer
                    AND g.environment = l.environment AND g.transaction_id = split_part(l.source_id, '/', 1)) END
            """
        ),
        (
            "INV5", "every spend has one line and draws of its amount, every refused one nothing",
            """
            SELECT FROM granting.spends AS s WHERE
                (SELECT count(*) FROM granting.ledger AS l WHERE l.customer = s.customer AND l.source_type = 'APP_USAGE'
                    AND l.source_id = s.source_id) <> CASE outcome WHEN 'spent' THEN 1 ELSE 0 END
                OR (SELECT coalesce(sum(d.amount), 0) FROM granting.draws AS d JOIN granting.lots ON lots.id = d.lot
                    WHERE lots.customer = s.customer AND d.kind = 'spend' AND d.source_id = s.source_id)
                    <> CASE outcome WHEN 'spent' THEN s.amount ELSE 0 END
            """
        ),
        (
            "INV5", "nobody was refused what the wallet held",
            "SELECT FROM granting.spends WHERE outcome = 'not_enough' AND balance_after >= amount"
        ),
        (
            "INV6", "every grant has one fact that tells of it, every such fact its grant",
            """
            SELECT FROM granting.grants AS g FULL JOIN
                (SELECT key, cause FROM granting.facts WHERE type = 'purchase.granted') AS f
                ON f.key = g.environment || '/' || g.transaction_id AND f.cause = g.cause
            WHERE g.transaction_id IS NULL OR f.key IS NULL
            """
        ),
        (
            "INV8", "everything that was verified reached Granting",
            """
            SELECT FROM verification.evidence AS e WHERE NOT EXISTS (SELECT FROM granting.transactions AS t
                WHERE t.environment = e.environment AND t.transaction_id = e.transaction_id)
            """
        ),
    ]
}
