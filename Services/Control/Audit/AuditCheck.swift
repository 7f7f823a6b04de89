/// One thing that must be true of what is stored: a query that finds every place where it is not.
///
/// A service adds its checks as a table in a file of its own and names it in ``AuditCheck/all``.
struct AuditCheck: Sendable {
    /// What is looked at, and how many of it there are.
    struct Subject: Sendable {
        /// In the plural, for the report.
        let noun: String
        /// A query that gives one number, `count`.
        let counts: @Sendable (AuditScope) -> String

        init(_ noun: String, _ counts: @escaping @Sendable (AuditScope) -> String) {
            self.noun = noun
            self.counts = counts
        }
    }

    /// Its name, `<group>.<what>`: stable, for alerts and for the guide.
    let name: String
    /// What holds when nothing is found, in one sentence.
    let proves: String
    /// What it looks at.
    let subject: Subject
    /// The columns that say where a finding is: ids, never personal data.
    let keys: [String]
    /// A query that gives a row a finding: the keys, and `problem` in words.
    let findings: @Sendable (AuditScope) -> String

    init(
        _ name: String, _ proves: String, of subject: Subject, keys: [String],
        _ findings: @escaping @Sendable (AuditScope) -> String
    ) {
        self.name = name
        self.proves = proves
        self.subject = subject
        self.keys = keys
        self.findings = findings
    }

    /// The schemas that are looked at; each has facts.
    static let schemas = ["granting", "verification", "intake"]

    /// Every check, in the order in which the report tells them.
    static let all =
        wallets + lots + refunds + debts + grants + subscriptions + orders + spends + purchases + notifications
        + consumption + facts + reconciliation

    /// The findings as text columns, sorted, the first `limit` of them; `total` counts all. The database sorts and
    /// counts, so nothing here grows with the number of rows.
    func statement(_ scope: AuditScope, limit: Int) -> String {
        let columns = keys.map { "\($0)::text AS \($0)" }.joined(separator: ", ")
        let order = (keys + ["problem"]).joined(separator: ", ")
        return """
            SELECT \(columns), problem::text AS problem, count(*) OVER () AS total
            FROM (\(findings(scope))) AS findings ORDER BY \(order) LIMIT \(limit)
            """
    }
}
