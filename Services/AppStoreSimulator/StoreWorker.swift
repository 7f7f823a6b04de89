import AppStoreSimulation
import JSON
import Runtime

/// The store on a thread of its own: it waits for the disk, and its books belong to one thread.
enum StoreWorker {
    /// A call of the store.
    enum Request: Sendable {
        case purchase(PurchaseRequest)
        case decide(pendingID: String, isApproved: Bool)
        case unfinished(appleAccount: String, environment: String)
        case finish(transactionID: String, environment: String)
        case refund(transactionID: String, environment: String, percentage: Int64)
        case transaction(transactionID: String, environment: String)
    }

    /// Starts the thread.
    static func start(in state: String) -> Worker<Request, JSONObject> {
        Worker.start(
            .init(name: "store"), open: { try SimulatedStore.open(in: state) },
            process: { store, requests in
                requests.map { request in
                    Result { () throws(StoreError) in try serve(request, &store) }.mapError { $0 }
                }
            })
    }

    private static func serve(_ request: Request, _ store: inout SimulatedStore) throws(StoreError) -> JSONObject {
        switch request {
        case .purchase(let purchase):
            switch try store.purchase(purchase) {
            case .purchased(let purchase): return purchase.json
            case .pending(let id): return ["pendingId": .string(id)]
            }
        case .decide(let id, let isApproved):
            return try store.decide(pendingID: id, isApproved: isApproved)?.json ?? ["declined": true]
        case .unfinished(let account, let environment):
            let purchases = try store.unfinished(appleAccount: account, environment: environment)
            return ["transactions": .array(purchases.map { .object($0.json) })]
        case .finish(let id, let environment):
            try store.finish(id, environment: environment)
            return ["transactionId": .string(id), "finished": true]
        case .refund(let id, let environment, let percentage):
            return try store.refund(id, environment: environment, percentage: percentage).json
        case .transaction(let id, let environment):
            return try store.transaction(id, environment: environment).json
        }
    }
}
