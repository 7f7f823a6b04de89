import AppStoreSimulation
import JSON
import Runtime

/// The store on a thread of its own: it waits for the disk, and its books belong to one thread.
enum StoreWorker {
    /// What is done with the store; the answer is the body of the HTTP answer.
    typealias Request = @Sendable (inout SimulatedStore) throws -> JSONObject

    /// Between two looks for subscriptions whose period is over: accelerated ones last seconds.
    private static let renewalInterval = Duration.milliseconds(100)

    /// Starts the thread.
    static func start(_ open: @escaping @Sendable () throws -> SimulatedStore) -> Worker<Request, JSONObject> {
        Worker.start(
            .init(name: "store", tickInterval: renewalInterval), open: open,
            process: { store, requests in
                requests.map { request in Result { try request(&store) } }
            }, tick: { store in try store.renewWhatIsDue() })
    }
}
