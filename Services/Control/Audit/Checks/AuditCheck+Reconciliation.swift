import Messages

/// Whether reconciliation sees everything, and has found nothing that a person must look at.
extension AuditCheck {
    static let reconciliation = [journal, cases, critical]

    /// The types that go to the stream, as SQL.
    private static let streamed = Topology.streamedFacts.map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// A minute: a reader that is killed is followed by another within seconds. Facts from before the journal's first, and
    /// months that were dropped, are not looked for; a journal that is empty must have those of a day.
    private static let journal = AuditCheck(
        "reconciliation.journal", "every fact of the last months that is older than a minute is in the journal",
        of: forTheStream, keys: ["type", "key", "revision"]
    ) { scope in
        """
        SELECT f.type, f.key, f.revision, 'not in the journal: does a purser-reconciliation run?' AS problem
        FROM granting.facts f WHERE f.type IN (\(streamed)) AND \(scope.facts("f.sequence", in: "granting"))
            AND f.created_at < clock_timestamp() - interval '1 minute'
            AND f.occurred_at >= coalesce((SELECT min(j.occurred_at) FROM reconciliation.journal j),
                (extract(epoch FROM clock_timestamp() - interval '1 day') * 1000)::bigint)
            AND NOT EXISTS (SELECT FROM reconciliation.journal j WHERE j.id = f.id AND j.occurred_at = f.occurred_at)
        """
    }

    private static let forTheStream = Subject("facts for the stream") { scope in
        """
        SELECT count(*) AS count FROM granting.facts
        WHERE type IN (\(streamed)) AND \(scope.facts("sequence", in: "granting"))
        """
    }

    private static let findings = Subject("findings") { _ in
        "SELECT count(*) AS count FROM reconciliation.findings"
    }

    private static let cases = AuditCheck(
        "reconciliation.cases", "no cause has two cases that nobody has ended", of: findings, keys: ["kind", "subject"]
    ) { _ in
        """
        SELECT kind, subject, format('%s cases', count(*)) AS problem FROM reconciliation.findings
        WHERE state <> 'resolved' GROUP BY kind, subject HAVING count(*) > 1
        """
    }

    private static let critical = AuditCheck(
        "reconciliation.critical", "reconciliation has found nothing critical that is not resolved or accepted",
        of: findings, keys: ["finding", "kind", "subject"]
    ) { _ in
        """
        SELECT id AS finding, kind, subject, format('%s since %s', state,
            to_char(to_timestamp(opened_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS problem
        FROM reconciliation.findings WHERE severity = 'critical' AND state IN ('open', 'redriven')
        """
    }
}
