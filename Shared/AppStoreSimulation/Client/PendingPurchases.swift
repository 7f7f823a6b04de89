import JSON

/// What a game keeps until it is confirmed: each purchase by its transaction id, since two of one product would overwrite
/// each other otherwise. One file, replaced whole at each change.
struct PendingPurchases: Equatable {
    /// A purchase that is not confirmed yet.
    struct Purchase: Equatable {
        let transactionID: String
        let productID: String
        /// As Unity gave it.
        let receipt: String
    }

    private(set) var purchases: [Purchase] = []
    private let path: String

    /// Reads the file at `path`, if there is one.
    init(path: String) throws(StoreError) {
        self.path = path
        guard let bytes = try DurableFile.read(path) else { return }
        do throws(JSONError) {
            purchases = try JSONReader.parseObject(bytes).readEach("pending") { (purchase) throws(JSONError) in
                Purchase(
                    transactionID: try purchase.string("transactionId"), productID: try purchase.string("productId"),
                    receipt: try purchase.string("receipt"))
            }
        } catch {
            throw .storage(path: path, problem: "holds no purchases (\(error.description))")
        }
    }

    /// Keeps a purchase; one that is kept already stays as it is.
    mutating func add(_ purchase: Purchase) throws(StoreError) {
        guard !purchases.contains(where: { $0.transactionID == purchase.transactionID }) else { return }
        purchases.append(purchase)
        try save()
    }

    /// It is confirmed.
    mutating func remove(_ transactionID: String) throws(StoreError) {
        purchases.removeAll { $0.transactionID == transactionID }
        try save()
    }

    private func save() throws(StoreError) {
        let object: JSONObject = [
            "pending": .array(
                purchases.map {
                    [
                        "transactionId": .string($0.transactionID), "productId": .string($0.productID),
                        "receipt": .string($0.receipt),
                    ]
                })
        ]
        try DurableFile.write(JSONWriter.write(object), to: path)
    }
}
