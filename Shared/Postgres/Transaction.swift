/// A transaction in progress, lent to the body of ``Connection/transaction(_:)``.
public struct Transaction: ~Copyable {
    private var connection: Connection
    /// What travels with the next round trip, BEGIN first.
    private var pending = [Connection.begin]
    private var hasBegun = false
    /// The error that doomed the transaction.
    private var failure: PostgresError?

    init(connection: consuming Connection) {
        self.connection = connection
    }

    /// Runs one statement.
    public mutating func query(_ sql: String, _ values: [SQLValue] = []) throws(PostgresError) -> Rows {
        let rows = try pipeline([Statement(sql, values)])
        return rows[0]
    }

    /// Runs several statements in one round trip, in order.
    /// - Throws: the error of the statement that failed.
    public mutating func pipeline(_ batch: [Statement]) throws(PostgresError) -> [Rows] {
        guard !batch.isEmpty else { return [] }
        if let failure { throw failure }
        let early = pending
        pending = []
        hasBegun = true
        do throws(PostgresError) {
            let rows = try connection.run(early + batch, commit: .nowhere)
            guard connection.isInTransaction else { throw .rolledBack }
            return Array(rows.dropFirst(early.count))
        } catch {
            failure = error
            throw error
        }
    }

    /// Adds statements whose rows nobody needs: they travel with the next statement or with COMMIT, saving a round trip.
    /// Their errors come from there.
    public mutating func enqueue(_ batch: [Statement]) {
        pending += batch
    }

    /// Adds a statement whose rows nobody needs. See ``enqueue(_:)``.
    public mutating func enqueue(_ sql: String, _ values: [SQLValue] = []) {
        pending.append(Statement(sql, values))
    }

    /// Runs a script of several statements without values by the simple protocol. It must not end the transaction.
    public mutating func executeScript(_ sql: String) throws(PostgresError) {
        _ = try query("SELECT")  // sends what is pending
        do throws(PostgresError) {
            try connection.run(script: sql, isInTransaction: true)
            guard connection.isInTransaction else { throw .rolledBack }
        } catch {
            failure = error
            throw error
        }
    }

    /// Sends `last` and commits, in one round trip; gives the rows of `last`. Sends nothing if nothing was done.
    mutating func commit(with last: [Statement]) throws(PostgresError) -> [Rows] {
        if let failure { throw failure }
        guard hasBegun || pending.count > 1 || !last.isEmpty else { return [] }
        let early = pending
        pending = []
        return Array(try connection.commit(after: early + last).suffix(last.count))
    }

    /// Rolls back what is open on the server, if anything is.
    mutating func rollBack() {
        connection.rollBackIfOpen()
    }

    consuming func release() -> Connection {
        connection
    }
}
