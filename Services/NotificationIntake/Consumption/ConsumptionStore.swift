import JSON
import Messages
import Pipeline
import Postgres

/// `intake.consumption_requests` and `.consumption_attempts`.
///
/// A copy takes a request by moving its next time ahead by a lease, in one statement that skips what others hold; what it
/// then says counts as long as nobody took the request after it. No lock is held while Granting or Apple is asked.
enum ConsumptionStore {
    /// Stores the questions among new notifications. They are due at once.
    static func insert(
        _ arrivals: [NotificationStore.Arrival], _ schedule: ConsumptionSchedule, in transaction: inout Transaction
    ) {
        let arrivals = arrivals.filter(\.notification.asksForConsumption)
        guard !arrivals.isEmpty else { return }
        let asked = arrivals.map(\.notification)
        let transactions = asked.map { $0.told.transaction?.transactionID.rawValue }
        transaction.enqueue(
            insertSQL,
            [
                .textArray(asked.map(\.environment.rawValue)), .uuidArray(asked.map(\.uuid)),
                .textArray(asked.map(\.app.rawValue)),
                .textArray(asked.map { $0.told.transaction?.bundleID ?? "" }), .textArray(transactions),
                .textArray(asked.map(\.told.consumptionRequestReason)), .boolArray(asked.map(\.isAdvancedCommerce)),
                .int8Array(asked.map(\.told.signedDate)),
                .int8Array(asked.map { schedule.deadline(signedAt: $0.told.signedDate) }),
                .textArray(arrivals.map(\.message.correlationID)),
            ])
    }

    private static let insertSQL = """
        INSERT INTO intake.consumption_requests (environment, notification_uuid, app, bundle_id, transaction_id,
            asked_because, is_advanced_commerce, signed_date, deadline, correlation_id, next_at, state, reason, ended_at)
        SELECT environment, notification_uuid, app, bundle_id, transaction_id, asked_because, is_advanced_commerce,
            signed_date, deadline, correlation_id, signed_date,
            CASE WHEN transaction_id IS NULL THEN 'skipped' ELSE 'pending' END,
            CASE WHEN transaction_id IS NULL THEN 'no_transaction' ELSE 'new' END,
            CASE WHEN transaction_id IS NULL THEN signed_date END
        FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::bigint[],
            $9::bigint[], $10::text[]) AS given(environment, notification_uuid, app, bundle_id, transaction_id,
                asked_because, is_advanced_commerce, signed_date, deadline, correlation_id)
        ON CONFLICT DO NOTHING
        """

    /// Takes the request whose time has come longest ago; nil if there is none that nobody else takes.
    static func claim(
        _ now: Int64, lease: Int64, on connection: inout Connection
    ) throws -> ConsumptionRequestRow? {
        try connection.query(claimSQL, [.int8(now), .int8(now + lease)]).first.map(row)
    }

    private static let claimSQL = """
        UPDATE intake.consumption_requests r SET next_at = $2, claims = r.claims + 1
        FROM (SELECT environment, notification_uuid FROM intake.consumption_requests
            WHERE state = 'pending' AND next_at <= $1 ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS due
        WHERE r.environment = due.environment AND r.notification_uuid = due.notification_uuid
        RETURNING r.environment, r.notification_uuid, r.app, r.bundle_id, r.transaction_id, r.is_advanced_commerce,
            r.signed_date, r.deadline, r.correlation_id, r.reason, r.claims, r.failures
        """

    private static func row(_ row: Row) throws -> ConsumptionRequestRow {
        guard let environment = StoreEnvironment(rawValue: try row.text("environment")) else {
            throw PostgresError.unreadableColumn(name: "environment", problem: "is no environment")
        }
        return ConsumptionRequestRow(
            app: AppID(try row.text("app")), environment: environment, uuid: try row.uuid("notification_uuid"),
            bundleID: try row.text("bundle_id"), transactionID: TransactionID(try row.text("transaction_id")),
            isAdvancedCommerce: try row.bool("is_advanced_commerce"), signedDate: try row.int8("signed_date"),
            deadline: try row.int8("deadline"), correlationID: try row.text("correlation_id"),
            reason: try row.text("reason"), claims: try row.int8("claims"), failures: try row.int8("failures"))
    }

    /// Writes down what Apple is about to be told: the attempt's number; nil if somebody else has taken the request since.
    static func begin(
        _ request: ConsumptionRequestRow, _ answer: ConsumptionAnswer, now: Int64, on connection: inout Connection
    ) throws -> Int64? {
        try connection.query(
            """
            WITH taken AS (UPDATE intake.consumption_requests SET attempts = attempts + 1
                WHERE environment = $1 AND notification_uuid = $2 AND claims = $3 AND state = 'pending'
                RETURNING environment, notification_uuid, attempts)
            INSERT INTO intake.consumption_attempts (environment, notification_uuid, attempt, version, body, began_at)
            SELECT environment, notification_uuid, attempts, $4, $5, $6 FROM taken RETURNING attempt
            """,
            key(request) + [
                .int8(request.claims), .text(answer.version),
                .json(String(decoding: JSONWriter.write(answer.json), as: UTF8.self)), .int8(now),
            ]
        ).first?.int8("attempt")
    }

    /// What became of a request: it ends, or waits.
    enum Outcome: Sendable, Equatable {
        /// The end: `sent`, `refused`, `skipped` or `expired`.
        case ended(state: String, ConsumptionReason)
        /// To be taken again at `next`.
        case waits(ConsumptionReason, next: Int64, failures: Int64)
    }

    /// Writes the outcome down, with the attempt it came from. Returns whether it counted.
    ///
    /// Whether Apple has accepted or refused counts whoever has taken the request meanwhile; everything else only while
    /// nobody has.
    static func finish(
        _ request: ConsumptionRequestRow, _ outcome: Outcome, after attempt: ConsumptionAttempt?, now: Int64,
        on connection: inout Connection
    ) throws -> Bool {
        var statements: [Statement] = []
        if let attempt {
            statements.append(
                Statement(
                    """
                    UPDATE intake.consumption_attempts SET ended_at = $4, outcome = $5, http_status = $6, apple_code = $7
                    WHERE environment = $1 AND notification_uuid = $2 AND attempt = $3 AND ended_at IS NULL
                    """,
                    key(request) + [
                        .int8(attempt.number), .int8(now), .text(attempt.outcome), .int8(attempt.status),
                        .int8(attempt.code),
                    ]))
        }
        switch outcome {
        case .ended(let state, let reason):
            statements.append(
                Statement(
                    """
                    UPDATE intake.consumption_requests SET state = $4, reason = $5, ended_at = $6
                    WHERE environment = $1 AND notification_uuid = $2 AND state = 'pending'
                        AND (claims = $3 OR $4 IN ('sent', 'refused')) RETURNING 1 AS counted
                    """,
                    key(request) + [.int8(request.claims), .text(state), .text(reason.rawValue), .int8(now)]))
        case .waits(let reason, let next, let failures):
            statements.append(
                Statement(
                    """
                    UPDATE intake.consumption_requests SET reason = $4, next_at = $5, failures = $6
                    WHERE environment = $1 AND notification_uuid = $2 AND state = 'pending' AND claims = $3
                    RETURNING 1 AS counted
                    """,
                    key(request) + [.int8(request.claims), .text(reason.rawValue), .int8(next), .int8(failures)]))
        }
        return try connection.pipeline(statements).last?.first != nil
    }

    private static func key(_ request: ConsumptionRequestRow) -> [SQLValue] {
        [.text(request.environment.rawValue), .uuid(request.uuid)]
    }
}
