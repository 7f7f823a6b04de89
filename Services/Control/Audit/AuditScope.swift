/// Which rows an audit looks at: all of them, or those that are new since an earlier audit and whatever belongs to the
/// same wallets and purchases.
///
/// Gives conditions for the checks' queries; they are put together from constants and numbers only.
struct AuditScope: Sendable, Equatable {
    /// What is new, nil for everything.
    struct Since: Sendable, Equatable {
        /// Rows made or changed after this (ms since 1970, the database's clock).
        let time: Int64
        /// The last line of the ledger that is not new.
        let ledger: Int64
        /// The last fact that is not new, by schema.
        let facts: [String: Int64]
    }

    /// Nil: everything.
    let since: Since?

    /// Everything.
    static let everything = AuditScope(since: nil)

    /// Rows whose time in `column` is new.
    func new(_ column: String) -> String {
        guard let since else { return "true" }
        return "\(column) > to_timestamp(\(since.time) / 1000.0)"
    }

    /// Facts that are new: `column` is a fact's sequence number. What is new was announced in the same transaction, so
    /// its fact is new, too.
    func facts(_ column: String, in schema: String) -> String {
        guard let since else { return "true" }
        return "\(column) > \(since.facts[schema] ?? 0)"
    }

    /// Rows of wallets that changed: `column` is a customer.
    func wallets(_ column: String) -> String {
        guard let since else { return "true" }
        return "\(column) IN (SELECT n.customer FROM granting.ledger n WHERE n.id > \(since.ledger))"
    }

    /// Rows of lots in wallets that changed: `column` is a lot.
    func lots(_ column: String) -> String {
        guard since != nil else { return "true" }
        return "\(column) IN (SELECT n.id FROM granting.lots n WHERE \(wallets("n.customer")))"
    }

    /// Rows about purchases of which something was verified or decided: the two columns are their key.
    func purchases(_ environment: String, _ transaction: String) -> String {
        guard since != nil else { return "true" }
        return """
            (\(environment), \(transaction)) IN (
                SELECT n.environment, n.transaction_id FROM granting.transactions n WHERE \(new("n.updated_at"))
                UNION SELECT n.environment, n.transaction_id FROM verification.evidence n WHERE \(new("n.verified_at")))
            """
    }
}
