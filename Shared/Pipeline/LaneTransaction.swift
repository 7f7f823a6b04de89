package import Postgres

/// The transaction of a lane without the lane: for measurements of what a batch costs in the database.
package struct LaneTransaction {
    private let store: FactStore
    private var handler: any Handler
    /// Rows of `unannounced` to retire with the next batch, as a lane does once their facts are published.
    private var published: [Int64] = []
    private var plans = PlanRenewal()

    /// Session settings of a lane's connection.
    package static var parameters: [String: String] { Connection.plansByIndex }

    /// Batches of `service`, handled by `handler`.
    package init(service: String, handler: any Handler) {
        store = FactStore(schema: service)
        self.handler = handler
    }

    /// Commits `batch` as a lane does: load, decide, save state and facts. Returns the outcomes in order.
    package mutating func commit(_ batch: [Incoming], on database: inout Connection) throws -> [Outcome] {
        let renewsPlans = plans.isDue(at: .now)
        let committed = try LaneSession.run(
            batch, by: &handler, on: &database, store, published, NoProbe(), renewsPlans: renewsPlans)
        published = committed.unannounced
        return committed.entries.map(\.outcome)
    }
}
