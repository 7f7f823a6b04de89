import JSON
import Messages
import Pipeline
import Postgres

/// `reconciliation.findings` and `.finding_events`. Everything is set-based.
enum FindingStore {
    /// Who acts when no person does.
    static let itself = "reconciliation"

    /// Opens cases; where there is one for the cause already, only what is seen of it is brought up to date. Returns how
    /// many are new.
    static func open(_ findings: [NewFinding], now: Int64, in transaction: inout Transaction) throws -> Int {
        guard !findings.isEmpty else { return 0 }
        let rows = try transaction.query(
            """
            WITH seen AS (
                INSERT INTO reconciliation.findings (kind, subject, severity, app, environment, transaction_id,
                    order_number, evidence, opened_at, seen_at, next_at)
                SELECT DISTINCT ON (kind, subject) kind, subject, severity, app, environment, transaction_id,
                    order_number, evidence::jsonb, $9, $9, $9
                FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
                    AS given(kind, subject, severity, app, environment, transaction_id, order_number, evidence)
                ORDER BY kind, subject
                ON CONFLICT (kind, subject) WHERE state <> 'resolved'
                DO UPDATE SET evidence = excluded.evidence, seen_at = greatest(findings.seen_at, excluded.seen_at)
                RETURNING id, xmax = 0 AS is_new)
            INSERT INTO reconciliation.finding_events (finding, at, event, actor, reason)
            SELECT id, $9, 'opened', $10, '' FROM seen WHERE is_new RETURNING finding
            """,
            [
                .textArray(findings.map(\.kind.rawValue)), .textArray(findings.map(\.subject)),
                .textArray(findings.map(\.kind.severity.rawValue)), .textArray(findings.map { $0.app?.rawValue }),
                .textArray(findings.map { $0.purchase?.environment.rawValue }),
                .textArray(findings.map { $0.purchase?.transactionID.rawValue }),
                .textArray(findings.map { $0.orderNumber?.rawValue }),
                .textArray(
                    findings.map { String(decoding: JSONWriter.write(.object($0.evidence)), as: UTF8.self) }),
                .int8(now), .text(itself),
            ])
        return rows.count
    }

    /// Ends cases whose cause is gone, accepted ones too. Returns how many were open.
    static func resolve(
        _ kinds: [FindingKind], subjects: [String], reason: String, now: Int64, in transaction: inout Transaction
    ) throws -> Int {
        guard !subjects.isEmpty else { return 0 }
        return try transaction.query(
            """
            WITH ended AS (
                UPDATE reconciliation.findings SET state = 'resolved', ended_at = $3
                WHERE kind = ANY($1::text[]) AND subject = ANY($2::text[]) AND state <> 'resolved' RETURNING id)
            INSERT INTO reconciliation.finding_events (finding, at, event, actor, reason)
            SELECT id, $3, 'resolved', $4, $5 FROM ended RETURNING finding
            """,
            [
                .textArray(kinds.map(\.rawValue)), .textArray(Set(subjects).sorted()), .int8(now), .text(itself),
                .text(reason),
            ]
        ).count
    }

    /// Ends all cases of a kind but those about `subjects`: what is still the case is known. Returns how many were open.
    static func resolve(
        allBut subjects: [String], of kind: FindingKind, reason: String, now: Int64, in transaction: inout Transaction
    ) throws -> Int {
        let over = try transaction.query(
            """
            SELECT subject FROM reconciliation.findings
            WHERE kind = $1 AND state <> 'resolved' AND subject <> ALL($2::text[])
            """, [.text(kind.rawValue), .textArray(subjects)]
        ).map { try $0.text("subject") }
        return try resolve([kind], subjects: over, reason: reason, now: now, in: &transaction)
    }

    /// A case that can be mended.
    struct Case: Equatable {
        let id: Int64
        let entry: EvidenceEntry
        let attempts: Int64
        let nextAt: Int64
    }

    /// Cases of a kind that are under repair, or whose repair is due: the window of what may be under way at once.
    static func window(
        _ kind: FindingKind, now: Int64, limit: Int64, in transaction: inout Transaction
    ) throws -> [Case] {
        try transaction.query(
            """
            SELECT id, app, environment, transaction_id, order_number, evidence, attempts, next_at
            FROM reconciliation.findings
            WHERE kind = $1 AND state IN ('open', 'redriven') AND (state = 'redriven' OR next_at <= $2)
            ORDER BY state = 'redriven' DESC, next_at, id LIMIT $3
            """, [.text(kind.rawValue), .int8(now), .int8(limit)]
        ).compactMap { row in
            guard let environment = StoreEnvironment(rawValue: try row.text("environment")) else { return nil }
            let evidence = try? JSONReader.parseObject(Array(row.json("evidence").utf8))
            return Case(
                id: try row.int8("id"),
                entry: EvidenceEntry(
                    app: AppID(try row.optionalText("app") ?? ""), environment: environment,
                    transactionID: TransactionID(try row.text("transaction_id")),
                    orderNumber: try row.optionalText("order_number").map { OrderNumber($0) },
                    hasSubmitter: evidence?["hasSubmitter"]?.boolValue ?? true,
                    verifiedAt: evidence?["verifiedAt"]?.intValue ?? 0),
                attempts: try row.int8("attempts"), nextAt: try row.int8("next_at"))
        }
    }

    /// Writes down that a repair is tried, before it is: whoever dies in between tries again later. Returns the cases
    /// that it counted for: not those that ended meanwhile.
    static func redrive(
        _ due: [(Case, next: Int64, severity: FindingSeverity)], now: Int64, in transaction: inout Transaction
    ) throws -> Set<Int64> {
        guard !due.isEmpty else { return [] }
        let rows = try transaction.query(
            """
            WITH tried AS (
                UPDATE reconciliation.findings f
                SET state = 'redriven', attempts = f.attempts + 1, next_at = given.next_at, severity = given.severity
                FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
                    AS given(id, attempts, next_at, severity)
                WHERE f.id = given.id AND f.attempts = given.attempts AND f.state IN ('open', 'redriven')
                RETURNING f.id, f.attempts)
            INSERT INTO reconciliation.finding_events (finding, at, event, actor, reason)
            SELECT id, $5, 'redriven', $6, 'attempt ' || attempts FROM tried RETURNING finding
            """,
            [
                .int8Array(due.map(\.0.id)), .int8Array(due.map(\.0.attempts)), .int8Array(due.map(\.next)),
                .textArray(due.map(\.severity.rawValue)), .int8(now), .text(itself),
            ])
        return Set(try rows.map { try $0.int8("finding") })
    }

    /// Cases whose repair is not ours are looked at again at `time`.
    static func lookAgain(at time: Int64, _ ids: [Int64], in transaction: inout Transaction) throws {
        guard !ids.isEmpty else { return }
        _ = try transaction.query(
            "UPDATE reconciliation.findings SET next_at = $2 WHERE id = ANY($1::bigint[])",
            [.int8Array(ids), .int8(time)])
    }

    /// How many cases there are that nobody has ended, by kind and severity.
    static func counts(on connection: inout Connection) throws -> [(FindingKind, FindingSeverity, Int)] {
        try connection.query(
            """
            SELECT kind, severity, count(*) AS count FROM reconciliation.findings WHERE state IN ('open', 'redriven')
            GROUP BY kind, severity
            """
        ).compactMap { row in
            guard let kind = FindingKind(rawValue: try row.text("kind")),
                let severity = FindingSeverity(rawValue: try row.text("severity"))
            else { return nil }
            return (kind, severity, Int(try row.int8("count")))
        }
    }
}
