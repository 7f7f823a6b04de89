import JSON
import Messages
import Postgres

/// Whether Apple waits for the answer to a consumption request, and its time runs out. One that ran out of it stays a case
/// for a week: Apple then decides without us.
struct ConsumptionCheck {
    let sources: any Sources

    /// Before Apple's deadline (ms): half of its time, enough to mend a key or a network.
    static let notice: Int64 = 6 * 3_600_000
    /// How long one that Apple has waited for in vain stays a case (ms).
    static let memory: Int64 = 7 * 86_400_000

    /// A look. Returns how many cases it has ended. Throws `RequestError`, and what the database throws.
    func run(_ now: Int64, _ connection: inout Connection) throws -> Int {
        let requests = try sources.consumptionDeadlines(before: now + Self.notice, endedAfter: now - Self.memory)
        return try connection.transaction { transaction in
            _ = try FindingStore.open(requests.map(Self.finding), now: now, in: &transaction)
            // An answer as long as it may be says nothing about what it does not name.
            guard requests.count < ConsumptionDeadlinesRequested.mostRequests else { return 0 }
            return try FindingStore.resolve(
                allBut: requests.map(\.key.description), of: .consumptionDeadline,
                reason: "answered, or not to be answered any more", now: now, in: &transaction)
        }
    }

    private static func finding(_ request: ConsumptionDeadline) -> NewFinding {
        NewFinding(
            .consumptionDeadline, subject: request.key.description, app: request.app,
            purchase: PurchaseKey(environment: request.key.environment, transactionID: request.transactionID),
            evidence: [
                "deadline": .integer(request.deadline), "reason": .string(request.reason),
                "isOver": .bool(request.isOver),
            ])
    }
}
