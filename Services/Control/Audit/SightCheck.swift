import Messages

/// A check that what one service told another has seen. What is not seen may still wait in the broker, so its proof is
/// exact when the queues that could hold it are empty, and otherwise as exact as their lengths allow.
struct SightCheck: Sendable {
    /// Its name, as of every check.
    let name: String
    /// What holds when nothing is unseen.
    let proves: String
    /// What is looked for, for the report.
    let noun: String
    /// What happened to it, for the report: `verified`, `told`.
    let verb: String
    /// The columns that say which one it is: ids, never personal data.
    let keys: [String]
    /// Queues in which it may wait: the work queue, what was parked from it, and the retry ladder.
    let queues: [String]
    /// A query that gives a row for each that is unseen and older than so many seconds: the keys, `message`, `at`, and
    /// `problem` in words or NULL.
    let unseen: @Sendable (AuditScope, Int) -> String

    init(
        _ name: String, _ proves: String, of noun: String, verb: String, keys: [String], queue: Topology.Queue,
        _ unseen: @escaping @Sendable (AuditScope, Int) -> String
    ) {
        (self.name, self.proves, self.noun, self.verb, self.keys) = (name, proves, noun, verb, keys)
        queues = [queue.name, queue.parkedName] + AuditQueues.ladder
        self.unseen = unseen
    }

    /// Every such check.
    static let all = [AuditCheck.purchasesSeen, AuditCheck.notificationsSeen]

    /// The unseen as text columns, oldest first, the first `limit` of them; `total` counts all.
    func statement(_ scope: AuditScope, grace: Int, limit: Int) -> String {
        let columns = keys.map { "\($0)::text AS \($0)" }.joined(separator: ", ")
        return """
            SELECT \(columns), message::text AS message, extract(epoch FROM clock_timestamp() - at)::bigint AS age,
                problem::text AS problem, count(*) OVER () AS total
            FROM (\(unseen(scope, grace))) AS unseen ORDER BY at LIMIT \(limit)
            """
    }
}
