import Messages
import Observability
import Pipeline
import Postgres

/// Warnings about requests that wait too long, and the gauges of how many wait.
struct ConsumptionWatch {
    let schedule: ConsumptionSchedule
    let instruments: ConsumptionMetrics
    let logger: Logger

    /// Gives each warning that is due, once among all copies, and counts what is open.
    func look(_ now: Int64, on connection: inout Connection) throws {
        let due = try connection.query(
            Self.warn, [.int8(now - schedule.firstAlert), .int8(now - schedule.secondAlert)])
        for row in due { try tell(row, now) }
        var byAge: [ConsumptionMetrics.Age: Int] = [:]
        var byReason: [String: Int] = [:]
        for row in try connection.query(
            Self.count, [.int8(now - schedule.firstAlert), .int8(now - schedule.secondAlert)])
        {
            let (old, oldest) = (try row.int8("old"), try row.int8("oldest"))
            let all = try row.int8("waiting")
            byAge[.young, default: 0] += Int(all - old)
            byAge[.old, default: 0] += Int(old - oldest)
            byAge[.oldest, default: 0] += Int(oldest)
            byReason[try row.text("reason"), default: 0] += Int(all)
        }
        for age in ConsumptionMetrics.Age.allCases { instruments.open(age).set(byAge[age] ?? 0) }
        for reason in ConsumptionReason.allCases { instruments.waiting(reason).set(byReason[reason.rawValue] ?? 0) }
    }

    private static let warn = """
        UPDATE intake.consumption_requests SET alerts = CASE WHEN signed_date <= $2 THEN 2 ELSE 1 END
        WHERE state = 'pending' AND ((alerts < 1 AND signed_date <= $1) OR (alerts < 2 AND signed_date <= $2))
        RETURNING alerts, reason, app, environment, notification_uuid, transaction_id, deadline, correlation_id, attempts
        """
    private static let count = """
        SELECT reason, count(*) AS waiting, count(*) FILTER (WHERE signed_date <= $1) AS old,
            count(*) FILTER (WHERE signed_date <= $2) AS oldest
        FROM intake.consumption_requests WHERE state = 'pending' GROUP BY reason
        """

    /// A request that waits for its customer's word is nobody's fault; everything else is for an operator.
    private func tell(_ row: Row, _ now: Int64) throws {
        let stage = ConsumptionMetrics.Stage(alerts: try row.int8("alerts"))
        let reason = ConsumptionReason(rawValue: try row.text("reason")) ?? .new
        instruments.alerts(stage, reason).increment()
        let fields: [String: LogValue] = [
            "correlation.id": .string(try row.text("correlation_id")), "app": .string(try row.text("app")),
            "environment": .string(try row.text("environment")),
            "notification.uuid": .string(UUIDText.format(try row.uuid("notification_uuid"))),
            "transaction.id": .string(try row.text("transaction_id")), "reason": .string(reason.rawValue),
            "attempts": .int(Int(try row.int8("attempts"))),
            "seconds.left": .int(Int((try row.int8("deadline") - now) / 1_000)),
        ]
        let text: StaticString = "a consumption request of Apple waits for its answer"
        switch (reason.isChoice, stage) {
        case (true, _): logger.info(text, fields)
        case (false, .first): logger.warning(text, fields)
        case (false, .second): logger.error(text, fields)
        }
    }
}
