import Messages
import Pipeline
import Postgres

/// Writes down the runs that operators ask for; the daily run's thread makes them. A request that is delivered again
/// finds its entry.
struct AcceptRunRequests: Handler {
    private let now: @Sendable () -> Int64

    init(now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }) { self.now = now }

    mutating func handle(_ batch: [Incoming], in transaction: inout Transaction) throws -> [Outcome] {
        var outcomes: [Outcome] = []
        for incoming in batch {
            guard let request = incoming.read(ReconciliationRunRequested.self) else {
                outcomes.append(.park(reason: Incoming.unreadable))
                continue
            }
            var id: Int64?
            if DayPlan.isDay(request.date), Self.isName(request.app) {
                id = try RunTable.request(
                    request.date, app: request.app, cause: incoming.header.id, now: now(), in: &transaction)
            }
            outcomes.append(.done(facts: [], reply: try Reply(ReconciliationRunAnswered(request: id))))
        }
        return outcomes
    }

    /// Bytes of an app's id at most, as its file has it.
    private static let longestName = 32

    private static func isName(_ app: AppID?) -> Bool {
        guard let app else { return true }
        return (1...longestName).contains(app.rawValue.utf8.count) && !app.rawValue.utf8.contains(0)
    }
}
