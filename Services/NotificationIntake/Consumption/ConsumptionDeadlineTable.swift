import Messages
import Pipeline
import Postgres

/// Requests of `intake.consumption_requests` that somebody should look at: Apple's time for them runs out, or did.
enum ConsumptionDeadlineTable {
    /// The most urgent first.
    static func read(
        _ question: ConsumptionDeadlinesRequested, in transaction: inout Transaction
    ) throws -> [ConsumptionDeadline] {
        let choices = ConsumptionReason.allCases.filter(\.isChoice).map(\.rawValue)
        return try transaction.query(
            """
            SELECT environment, notification_uuid, app, transaction_id, deadline, reason, state = 'expired' AS is_over
            FROM intake.consumption_requests
            WHERE (state = 'pending' AND deadline < $1 OR state = 'expired' AND ended_at > $2)
                AND transaction_id IS NOT NULL AND reason <> ALL($3::text[])
            ORDER BY state = 'expired', deadline, notification_uuid LIMIT $4
            """,
            [
                .int8(question.before), .int8(question.endedAfter), .textArray(choices),
                .int8(Int64(ConsumptionDeadlinesRequested.mostRequests)),
            ]
        ).compactMap { row -> ConsumptionDeadline? in
            guard let environment = StoreEnvironment(rawValue: try row.text("environment")) else { return nil }
            return ConsumptionDeadline(
                app: AppID(try row.text("app")),
                key: NotificationKey(
                    environment: environment,
                    notificationUUID: UUIDText.format(try row.uuid("notification_uuid"))),
                transactionID: TransactionID(try row.text("transaction_id")), deadline: try row.int8("deadline"),
                reason: try row.text("reason"), isOver: try row.bool("is_over"))
        }
    }
}
