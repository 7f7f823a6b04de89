import Messages
import Pipeline
import Postgres

/// `reconciliation.apple_feeds`: what was missed, until the books have it.
enum AppleFeedTable {
    /// A feed with what its case says.
    struct Entry {
        let feed: AppleFeed
        /// Whether it was handed in so recently that the answer may be on its way.
        let isUnderWay: Bool
        /// Whether an operator lives with it: it is watched, not handed in.
        let isAccepted: Bool
    }

    /// Adds feeds; those that are there stay as they are.
    static func insert(_ feeds: [AppleFeed], now: Int64, in transaction: inout Transaction) throws {
        guard !feeds.isEmpty else { return }
        _ = try transaction.query(
            """
            INSERT INTO reconciliation.apple_feeds (kind, subject, app, environment, notification_uuid, transaction_id,
                signed_date, payload, revoked_share, found_at, next_at)
            SELECT *, $10, $10 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::text[],
                $7::bigint[], $8::text[], $9::bigint[])
            ON CONFLICT DO NOTHING
            """,
            keys(feeds) + [
                .textArray(feeds.map(\.app.rawValue)), .textArray(feeds.map(\.environment.rawValue)),
                .uuidArray(feeds.map { $0.notification.flatMap { UUIDText.parse($0.notificationUUID) } }),
                .textArray(feeds.map { $0.purchase?.transactionID.rawValue }), .int8Array(feeds.map(\.signedDate)),
                .textArray(feeds.map(\.payload)), .int8Array(feeds.map(\.revokedShare)), .int8(now),
            ])
    }

    /// What is under way, and what is due, the newest first.
    ///
    /// - Parameter since: what was handed in after this is under way (ms since 1970).
    static func window(
        now: Int64, since: Int64, limit: Int64, in transaction: inout Transaction
    ) throws -> [Entry] {
        try transaction.query(
            """
            SELECT f.*, coalesce(f.sent_at > $2, false) AS is_under_way, n.state = 'accepted' AS is_accepted
            FROM (SELECT * FROM (SELECT * FROM reconciliation.apple_feeds WHERE sent_at > $2) AS sent
                UNION ALL SELECT * FROM (SELECT * FROM reconciliation.apple_feeds
                    WHERE next_at <= $1 AND coalesce(sent_at, $2) <= $2
                    ORDER BY coalesce(signed_date, found_at) DESC LIMIT $3) AS due) AS f
            JOIN reconciliation.findings n ON n.kind = f.kind AND n.subject = f.subject AND n.state <> 'resolved'
            """, [.int8(now), .int8(since), .int8(limit)]
        ).compactMap { row in
            guard let feed = try feed(row) else { return nil }
            return Entry(
                feed: feed, isUnderWay: try row.bool("is_under_way"), isAccepted: try row.bool("is_accepted"))
        }
    }

    /// Which of these cases of a kind have a feed: that decides when they end.
    static func subjects(
        of kind: FindingKind, among subjects: [String], in transaction: inout Transaction
    ) throws -> Set<String> {
        guard !subjects.isEmpty else { return [] }
        let rows = try transaction.query(
            "SELECT subject FROM reconciliation.apple_feeds WHERE kind = $1 AND subject = ANY($2::text[])",
            [.text(kind.rawValue), .textArray(subjects)])
        return Set(try rows.map { try $0.text("subject") })
    }

    /// Those of which a notification is handed in already that was signed at `since` or later, so says the same: of one
    /// cause there is one case.
    static func told(
        _ feeds: [(feed: AppleFeed, since: Int64)], in transaction: inout Transaction
    ) throws -> Set<String> {
        guard !feeds.isEmpty else { return [] }
        let rows = try transaction.query(
            """
            SELECT given.subject FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
                AS given(subject, environment, transaction_id, since)
            WHERE EXISTS (SELECT FROM reconciliation.apple_feeds f WHERE f.transaction_id = given.transaction_id
                AND f.environment = given.environment AND f.notification_uuid IS NOT NULL
                AND f.signed_date >= given.since)
            """,
            [
                .textArray(feeds.map(\.feed.subject)), .textArray(feeds.map(\.feed.environment.rawValue)),
                .textArray(feeds.map { $0.feed.purchase?.transactionID.rawValue }), .int8Array(feeds.map(\.since)),
            ])
        return Set(try rows.map { try $0.text("subject") })
    }

    /// How many there are.
    static func count(on connection: inout Connection) throws -> Int {
        Int(try connection.query("SELECT count(*) AS n FROM reconciliation.apple_feeds").single().int8("n"))
    }

    /// The books have them.
    static func remove(_ feeds: [AppleFeed], in transaction: inout Transaction) throws {
        guard !feeds.isEmpty else { return }
        _ = try transaction.query(
            """
            DELETE FROM reconciliation.apple_feeds f USING unnest($1::text[], $2::text[]) AS given(kind, subject)
            WHERE f.kind = given.kind AND f.subject = given.subject
            """, keys(feeds))
    }

    /// Looked at again then.
    static func postpone(_ feeds: [AppleFeed], to next: Int64, in transaction: inout Transaction) throws {
        guard !feeds.isEmpty else { return }
        _ = try transaction.query(
            """
            UPDATE reconciliation.apple_feeds f SET next_at = $3
            FROM unnest($1::text[], $2::text[]) AS given(kind, subject)
            WHERE f.kind = given.kind AND f.subject = given.subject
            """, keys(feeds) + [.int8(next)])
    }

    /// Locks the feeds of findings by these ids, before the findings themselves are.
    static func lock(ofFindings ids: [Int64], in transaction: inout Transaction) throws {
        _ = try transaction.query(
            """
            SELECT a.kind FROM reconciliation.apple_feeds a
            JOIN reconciliation.findings f ON f.kind = a.kind AND f.subject = a.subject AND f.state <> 'resolved'
            WHERE f.id = ANY($1::bigint[]) ORDER BY a.kind, a.subject FOR UPDATE OF a
            """, [.int8Array(ids)])
    }

    /// Has one handed in at the next look. Returns whether there is one.
    static func hurry(
        _ kind: FindingKind, _ subject: String, at now: Int64, in transaction: inout Transaction
    ) throws -> Bool {
        try !transaction.query(
            """
            UPDATE reconciliation.apple_feeds SET next_at = $3 WHERE kind = $1 AND subject = $2 RETURNING 1 AS hurried
            """, [.text(kind.rawValue), .text(subject), .int8(now)]
        ).isEmpty
    }

    /// Writes down that they are handed in, before they are: whoever dies in between does it again later.
    ///
    /// - Parameter patience: attempts after which a person should look.
    static func attempt(
        _ feeds: [AppleFeed], patience: Int64, now: Int64, in transaction: inout Transaction
    ) throws {
        guard !feeds.isEmpty else { return }
        _ = try transaction.query(
            """
            WITH tried AS (
                UPDATE reconciliation.apple_feeds f SET attempts = f.attempts + 1, sent_at = $4, next_at = given.next_at
                FROM unnest($1::text[], $2::text[], $3::bigint[]) AS given(kind, subject, next_at)
                WHERE f.kind = given.kind AND f.subject = given.subject RETURNING f.kind, f.subject, f.attempts),
            cases AS (
                UPDATE reconciliation.findings n SET state = 'redriven', attempts = n.attempts + 1,
                    severity = CASE WHEN tried.attempts > $5 THEN 'critical' ELSE n.severity END
                FROM tried WHERE n.kind = tried.kind AND n.subject = tried.subject AND n.state IN ('open', 'redriven')
                RETURNING n.id, n.attempts)
            INSERT INTO reconciliation.finding_events (finding, at, event, actor, reason)
            SELECT id, $4, 'redriven', $6, 'attempt ' || attempts FROM cases
            """,
            keys(feeds) + [
                .int8Array(feeds.map(\.nextAt)), .int8(now), .int8(patience), .text(FindingStore.itself),
            ])
    }

    private static func keys(_ feeds: [AppleFeed]) -> [SQLValue] {
        [.textArray(feeds.map(\.kind.rawValue)), .textArray(feeds.map(\.subject))]
    }

    private static func feed(_ row: Row) throws -> AppleFeed? {
        guard let kind = FindingKind(rawValue: try row.text("kind")),
            let environment = StoreEnvironment(rawValue: try row.text("environment"))
        else { return nil }
        var feed = AppleFeed(
            kind: kind, subject: try row.text("subject"), app: AppID(try row.text("app")), environment: environment,
            notification: try row.optionalUUID("notification_uuid").map {
                NotificationKey(environment: environment, notificationUUID: UUIDText.format($0))
            },
            purchase: try row.optionalText("transaction_id").map {
                PurchaseKey(environment: environment, transactionID: TransactionID($0))
            }, signedDate: try row.optionalInt8("signed_date"),
            payload: try row.text("payload"), revokedShare: try row.optionalInt8("revoked_share"))
        feed.attempts = try row.int8("attempts")
        feed.nextAt = try row.int8("next_at")
        return feed
    }
}
