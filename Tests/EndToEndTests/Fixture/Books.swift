import Postgres
import TestSupport
import Testing

/// What the database says, read as its superuser: the truth that answers are compared with.
struct Books {
    let deployment: Deployment

    /// Grants of one transaction.
    func grants(_ transactionID: String) throws -> Int64 {
        try number("SELECT count(*) FROM granting.grants WHERE transaction_id = $1", [.text(transactionID)])
    }

    /// The transactions that were granted, each as often as it was.
    func granted() throws -> [String] {
        var connection = try deployment.platform.connect(deployment.database)
        return try connection.query("SELECT transaction_id FROM granting.grants").map { try $0.text("transaction_id") }
    }

    /// The balances of all users by asset.
    func balances() throws -> [String: [String: Int64]] {
        var connection = try deployment.platform.connect(deployment.database)
        var balances: [String: [String: Int64]] = [:]
        for row in try connection.query(
            "SELECT user_id, asset, balance FROM granting.accounts JOIN granting.customers USING (customer)")
        {
            balances[try row.text("user_id"), default: [:]][try row.text("asset")] = try row.int8("balance")
        }
        return balances
    }

    /// The balances of a user by asset.
    func balances(_ user: String) throws -> [String: Int64] { try balances()[user] ?? [:] }

    /// One number.
    func number(_ sql: String, _ values: [SQLValue]) throws -> Int64 {
        var connection = try deployment.platform.connect(deployment.database)
        return try connection.query("SELECT (\(sql))::bigint AS n", values).single().int8("n")
    }

    /// One text.
    func text(_ sql: String, _ values: [SQLValue]) throws -> String {
        var connection = try deployment.platform.connect(deployment.database)
        return try connection.query("SELECT (\(sql))::text AS t", values).single().text("t")
    }

    /// Accounts whose balance is not the sum of their ledger, or of their lots, or not the last ledger row's.
    func wrongAccounts() throws -> Int64 {
        try number(
            """
            SELECT count(*) FROM granting.accounts AS account WHERE
                balance IS DISTINCT FROM (SELECT coalesce(sum(CASE direction WHEN 'IN' THEN amount ELSE -amount END), 0)
                    FROM granting.ledger WHERE customer = account.customer AND asset = account.asset)
                OR balance IS DISTINCT FROM (SELECT coalesce(sum(remaining), 0)
                    FROM granting.lots WHERE customer = account.customer AND asset = account.asset)
                OR balance IS DISTINCT FROM (SELECT balance_after FROM granting.ledger
                    WHERE customer = account.customer AND asset = account.asset ORDER BY id DESC LIMIT 1)
            """, [])
    }

    /// Grants without exactly one ledger row and one lot for it (products here have one asset each, or are cards, which
    /// have none).
    func wrongGrants() throws -> Int64 {
        try number(
            """
            SELECT count(*) FROM granting.grants AS g
            JOIN granting.product_versions AS p ON p.app = g.app AND p.product_id = g.product_id
                AND p.version = g.product_version
            WHERE (p.entitlement IS NULL)::int <> (SELECT count(*) FROM granting.ledger AS l WHERE l.customer = g.customer
                    AND source_type = 'APPLE_IAP' AND source_id = g.transaction_id || '/0'
                    AND l.environment = g.environment)
                OR (p.entitlement IS NULL)::int <> (SELECT count(*) FROM granting.lots AS l WHERE l.environment = g.environment
                    AND l.transaction_id = g.transaction_id)
            """, [])
    }

    /// Everything adds up, and the operator's audit says so too.
    func expectConsistent(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try wrongAccounts() == 0, sourceLocation: sourceLocation)
        #expect(try wrongGrants() == 0, sourceLocation: sourceLocation)
        let audit = try deployment.run("purser", ["audit", "--full"], deployment.controlEnvironment)
        let findings = audit.output.split(separator: "\n").filter { !$0.hasPrefix("ok ") }
        #expect(audit.status == 0, "\(findings.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }
}
