import Observability
import Postgres

/// Whether reconciliation did what it is for, and did it once: by the drill's own SQL, as the read-only auditor.
struct ReconciliationCheck: ~Copyable {
    private var connection: Connection
    private let findings: Findings

    init(_ auditor: Secret, _ findings: Findings) throws {
        // As BooksCheck: the auditor's sessions are read-only, which is what a service takes for a replica.
        connection = try Connection.open(
            Secret(auditor.reveal() + " target_session_attrs=any"), applicationName: "purser-drills",
            parameters: ["statement_timeout": "60s"])
        self.findings = findings
    }

    /// Whether no case is open any more and the journal has been read to its end.
    mutating func isDone() throws -> Bool {
        try number(Self.waiting) == 0 && number(Self.missing) == 0
    }

    /// How often a purchase was said again by reconciliation itself.
    mutating func repairs() throws -> Int64 {
        try number("SELECT FROM reconciliation.finding_events WHERE event = 'redriven'")
    }

    /// The promises.
    mutating func check() throws {
        let left = try connection.query(
            """
            SELECT format('%s of %s is %s after %s attempts', kind, subject, state, attempts) AS text
            FROM reconciliation.findings WHERE state IN ('open', 'redriven') ORDER BY id
            """
        ).map { try $0.text("text") }
        findings.check("CASES", "every finding is resolved or explained", left)
        findings.check("JOURNAL", "the journal holds every fact of the stream", none: try number(Self.missing))
        findings.check(
            "JOURNAL", "each once, as it is stored",
            none: try number(
                """
                SELECT j.id FROM reconciliation.journal j LEFT JOIN granting.facts f ON f.id = j.id
                GROUP BY j.id HAVING count(*) > 1 OR bool_or(f.id IS NULL OR f.body <> j.body)
                """))
        for check in Self.once {
            findings.check("REPAIR", check.what, none: try number(check.sql))
        }
    }

    private static let waiting = "SELECT FROM reconciliation.findings WHERE state IN ('open', 'redriven')"
    /// Facts that Granting has stored and that the journal does not know.
    private static let missing = """
        SELECT FROM granting.facts f WHERE f.type = ANY(ARRAY[\(FactsCheck.types.map { "'\($0)'" }.joined(separator: ", "))])
            AND NOT EXISTS (SELECT FROM reconciliation.journal j WHERE j.id = f.id)
        """

    /// Queries whose rows must not exist.
    private static let once: [(what: String, sql: String)] = [
        (
            "no repair was tried by two copies at once: of one case a minute lies between two attempts",
            """
            SELECT FROM (SELECT at - lag(at) OVER (PARTITION BY finding ORDER BY id) AS pause
                FROM reconciliation.finding_events WHERE event = 'redriven') AS attempts WHERE pause < 59000
            """
        ),
        (
            "every attempt is on record, and every case ended once",
            """
            SELECT f.id FROM reconciliation.findings f JOIN reconciliation.finding_events e ON e.finding = f.id
            GROUP BY f.id HAVING count(*) FILTER (WHERE e.event = 'redriven') <> f.attempts
                OR count(*) FILTER (WHERE e.event = 'opened') <> 1
                OR count(*) FILTER (WHERE e.event = 'resolved') <> (f.state = 'resolved')::int
            """
        ),
        (
            "no purchase that was said again was granted twice",
            """
            SELECT FROM reconciliation.findings f WHERE f.attempts > 0 AND 1 < (SELECT count(*) FROM granting.facts g
                WHERE g.type = 'purchase.granted' AND g.key = f.environment || '/' || f.transaction_id)
            """
        ),
    ]

    private mutating func number(_ sql: String) throws -> Int64 {
        try connection.query("SELECT count(*) AS n FROM (\(sql)) AS rows").single().int8("n")
    }
}
