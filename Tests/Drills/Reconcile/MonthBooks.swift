import Observability
import Postgres

/// What the drill reads of the books, as the read-only auditor. Blocking, for one thread.
struct MonthBooks: ~Copyable {
    private var connection: Connection

    init(_ auditor: Secret) throws {
        // The auditor's sessions are read-only, which is what a service takes for a replica.
        connection = try Connection.open(
            Secret(auditor.reveal() + " target_session_attrs=any"), applicationName: "purser-drills",
            parameters: ["statement_timeout": "60s"])
    }

    /// Purchases that were delivered.
    mutating func grants() throws -> Int { try number("SELECT FROM granting.grants") }

    /// What reconciliation has not read yet of these many purchases and grants; nil: it has read all.
    mutating func unread(verified: Int, granted: Int) throws -> String? {
        let known = try number("SELECT FROM reconciliation.purchases")
        let told = try number("SELECT FROM reconciliation.journal WHERE type = 'purchase.granted'")
        return known == verified && told == granted
            ? nil : "\(known) of \(verified) purchases and \(told) of \(granted) grants are read"
    }

    /// Passes over all wallets that have ended.
    mutating func passes() throws -> Int64 {
        try connection.query("SELECT value FROM reconciliation.cursors WHERE name = 'books'").single().int8("value")
    }

    /// What the last runs of these days took, in all.
    mutating func secondsOfRuns(_ days: [String]) throws -> Double {
        let milliseconds = try connection.query(
            """
            SELECT coalesce(sum(ended_at - began_at), 0)::bigint AS time FROM reconciliation.runs
            WHERE app = 'cloudpc' AND state = 'done' AND day = ANY($1::text[]::date[])
            """, [.textArray(days)]
        ).single().int8("time")
        return Double(milliseconds) / 1_000
    }

    /// All cases there ever were.
    mutating func cases() throws -> [PlantedDifferences.Case] {
        try connection.query(
            """
            SELECT kind, coalesce(environment || '/' || transaction_id, subject) AS subject, state
            FROM reconciliation.findings ORDER BY id
            """
        ).map {
            PlantedDifferences.Case(
                kind: try $0.text("kind"), subject: try $0.text("subject"), state: try $0.text("state"))
        }
    }

    /// Of these purchases those that are delivered, or whose refund is taken back wholly and once.
    mutating func delivered(_ transactions: [String], refunded: Bool) throws -> Int {
        let refunds = """
             AND g.applied_share = 100000 AND 1 = (SELECT count(*) FROM granting.ledger l WHERE l.customer = g.customer
                AND l.source_type = 'APPLE_REFUND' AND split_part(l.source_id, '/', 1) = g.transaction_id)
            """
        return try number(
            "SELECT FROM granting.grants g WHERE g.transaction_id = ANY($1::text[])\(refunded ? refunds : "")",
            [.textArray(transactions)])
    }

    consuming func close() { connection.close() }

    private mutating func number(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        Int(try connection.query("SELECT count(*) AS n FROM (\(sql)) AS rows", values).single().int8("n"))
    }
}
