extension Corruption {
    /// What reconciliation missed, or has found.
    static let reconciliation = [
        Corruption(
            "a fact that the journal does not know",
            """
            DELETE FROM reconciliation.journal WHERE type = 'spend.decided';
            UPDATE granting.facts SET created_at = created_at - interval '2 minutes' WHERE type = 'spend.decided'
            """, ["reconciliation.journal"], line: "type spend.decided"),
        Corruption(
            "two cases of one cause",
            "DROP INDEX reconciliation.findings_one_a_cause; \(finding("purchase_held", "warning")); "
                + finding("purchase_held", "warning"),
            ["reconciliation.cases"], line: "kind purchase_held; subject spoiled; 2 cases"),
        Corruption(
            "a case that a person must look at", finding("messages_parked", "critical"),
            ["reconciliation.critical"], line: "kind messages_parked; subject spoiled; open since 1970-01-01"),
    ]

    private static func finding(_ kind: String, _ severity: String) -> String {
        """
        INSERT INTO reconciliation.findings (kind, subject, severity, evidence, opened_at, seen_at, next_at)
        VALUES ('\(kind)', 'spoiled', '\(severity)', '{}', 0, 0, 0)
        """
    }
}
