import Messages
import Pipeline
import Postgres

/// Tells reconciliation which notifications have come in, and which questions of Apple are still to be answered
/// (`intake.queries`). Reads only.
struct AnswerQueries: Handler {
    init() {}

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        try batch.map { incoming in
            if let question = incoming.read(NotificationStatesRequested.self) {
                return .done(facts: [], reply: try Reply(try states(question, in: &transaction)))
            }
            if let question = incoming.read(ConsumptionDeadlinesRequested.self) {
                let requests = try ConsumptionDeadlineTable.read(question, in: &transaction)
                return .done(facts: [], reply: try Reply(ConsumptionDeadlinesAnswered(requests: requests)))
            }
            return .park(reason: Incoming.unreadable)
        }
    }

    /// The states of the first ``NotificationStatesRequested/mostKeys`` asked for; what is no UUID has never come.
    private func states(
        _ question: NotificationStatesRequested, in transaction: inout Transaction
    ) throws -> NotificationStatesAnswered {
        let keys = Array(question.keys.prefix(NotificationStatesRequested.mostKeys))
        let rows = try transaction.query(
            """
            SELECT k.place, n.stored_at FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY
                AS k(environment, notification_uuid, place)
            JOIN intake.notifications n USING (environment, notification_uuid)
            """,
            [
                .textArray(keys.map(\.environment.rawValue)),
                .uuidArray(keys.map { UUIDText.parse($0.notificationUUID) }),
            ])
        var storedAt: [Int: Int64] = [:]
        for row in rows { storedAt[Int(try row.int8("place")) - 1] = try row.timestampMilliseconds("stored_at") }
        return NotificationStatesAnswered(
            states: keys.enumerated().map { NotificationState(key: $0.element, storedAt: storedAt[$0.offset]) })
    }
}
