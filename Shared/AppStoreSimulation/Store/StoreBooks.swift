import JSON

/// What the store knows of one transaction.
struct StoreRecord: Sendable, Equatable {
    /// Key.
    let transactionID: String
    /// Key.
    let environment: String
    /// Who paid.
    let appleAccount: String
    /// The newest statement, unsigned.
    var payload: JSONObject
    /// Whether the app finished it.
    var isFinished: Bool
    /// What its app's server said about its consumption, in order.
    var consumption: [JSONObject] = []
}

/// The store's books: a folder with one file a transaction, one a subscription, and one a purchase that waits for
/// approval.
///
///     <state>/transactions/<environment>-<transactionId>.json
///     <state>/subscriptions/<environment>-<originalTransactionId>.json
///     <state>/pending/<id>.json
///
/// Everything is in memory too; a file is written before the memory is changed. One thread.
struct StoreBooks {
    private let transactionsFolder: String
    private let pendingFolder: String
    private let subscriptionsFolder: String
    private(set) var subscriptions: [String: SimulatedSubscription] = [:]
    private(set) var records: [String: StoreRecord] = [:]
    private(set) var pending: [String: PurchaseRequest] = [:]

    /// Opens the books in an existing folder, reading what is there.
    init(in directory: String) throws(StoreError) {
        transactionsFolder = directory + "/transactions"
        pendingFolder = directory + "/pending"
        subscriptionsFolder = directory + "/subscriptions"
        for folder in [transactionsFolder, pendingFolder, subscriptionsFolder] {
            try DurableFile.makeDirectory(folder)
        }
        for object in try Self.objects(in: transactionsFolder) {
            let record = try Self.record(object.value, path: object.path)
            records[Self.key(record.environment, record.transactionID)] = record
        }
        for object in try Self.objects(in: subscriptionsFolder) {
            guard let subscription = try? SimulatedSubscription(object.value) else {
                throw .storage(path: object.path, problem: "is no subscription")
            }
            subscriptions[Self.key(subscription.environment, subscription.originalTransactionID)] = subscription
        }
        for object in try Self.objects(in: pendingFolder) {
            guard let id = object.value["id"]?.stringValue, let request = object.value["request"]?.objectValue else {
                throw .storage(path: object.path, problem: "is no waiting purchase")
            }
            pending[id] = try PurchaseRequest(request)
        }
    }

    /// The record of a transaction.
    func record(_ transactionID: String, _ environment: String) -> StoreRecord? {
        records[Self.key(environment, transactionID)]
    }

    /// Adds or replaces a record, durably.
    mutating func save(_ record: StoreRecord) throws(StoreError) {
        let key = Self.key(record.environment, record.transactionID)
        var object: JSONObject = [
            "transactionId": .string(record.transactionID), "environment": .string(record.environment),
            "appleAccount": .string(record.appleAccount), "finished": .bool(record.isFinished),
            "payload": .object(record.payload),
        ]
        if !record.consumption.isEmpty { object.set("consumption", .array(record.consumption.map { .object($0) })) }
        try DurableFile.write(JSONWriter.write(object), name: key + ".json", in: transactionsFolder)
        records[key] = record
    }

    /// The subscription of a chain.
    func subscription(_ originalTransactionID: String, _ environment: String) -> SimulatedSubscription? {
        subscriptions[Self.key(environment, originalTransactionID)]
    }

    /// Adds or replaces a subscription, durably.
    mutating func save(_ subscription: SimulatedSubscription) throws(StoreError) {
        let key = Self.key(subscription.environment, subscription.originalTransactionID)
        try DurableFile.write(JSONWriter.write(subscription.json), name: key + ".json", in: subscriptionsFolder)
        subscriptions[key] = subscription
    }

    /// Keeps a purchase that waits for approval, durably.
    mutating func saveWaiting(_ request: PurchaseRequest, id: String) throws(StoreError) {
        let object: JSONObject = ["id": .string(id), "request": .object(request.json)]
        try DurableFile.write(JSONWriter.write(object), name: id + ".json", in: pendingFolder)
        pending[id] = request
    }

    /// Forgets a purchase that waited.
    mutating func removeWaiting(id: String) throws(StoreError) {
        try DurableFile.remove(name: id + ".json", in: pendingFolder)
        pending[id] = nil
    }

    /// Ids are digits and environments one of two words: both are safe in file names.
    private static func key(_ environment: String, _ transactionID: String) -> String {
        "\(environment)-\(transactionID)"
    }

    private static func objects(in folder: String) throws(StoreError) -> [(path: String, value: JSONObject)] {
        var objects: [(path: String, value: JSONObject)] = []
        for name in try DurableFile.names(in: folder) {
            let path = "\(folder)/\(name)"
            guard let bytes = try DurableFile.read(path), let object = try? JSONReader.parseObject(bytes) else {
                throw .storage(path: path, problem: "holds no JSON object")
            }
            objects.append((path, object))
        }
        return objects
    }

    private static func record(_ object: JSONObject, path: String) throws(StoreError) -> StoreRecord {
        do throws(JSONError) {
            return StoreRecord(
                transactionID: try object.string("transactionId"), environment: try object.string("environment"),
                appleAccount: try object.string("appleAccount"), payload: try object.object("payload"),
                isFinished: try object.bool("finished"),
                consumption: try (object.optionalArray("consumption") ?? []).compactMap(\.objectValue))
        } catch {
            throw .storage(path: path, problem: "is no transaction (\(error.description))")
        }
    }
}
