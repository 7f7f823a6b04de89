import Postgres

/// The tables that decisions are made on, inside one transaction: everything Granting reads, locks and writes goes
/// through here in words, so that the same loading, locking and deciding runs on PostgreSQL and on a model of it.
protocol BookTables: ~Copyable {
    /// Runs queries in order, in one round trip; each sees what was committed when it began.
    mutating func run(_ queries: [BookQuery]) throws -> BookFindings
    /// Writes with the next round trip, or with the commit. Errors come from there.
    mutating func enqueue(_ changes: [BookChange])
}

extension Transaction: BookTables {
    /// Sends the queries as one pipeline of SQL.
    mutating func run(_ queries: [BookQuery]) throws -> BookFindings {
        let results = try pipeline(queries.map(\.statement))
        var findings = BookFindings()
        for (query, rows) in zip(queries, results) { try findings.read(rows, of: query) }
        return findings
    }

    /// Keeps the writes for the next pipeline.
    mutating func enqueue(_ changes: [BookChange]) {
        enqueue(changes.map(\.statement))
    }
}
