import HTTPClient
public import JSON

/// Calls the `orders` surface of the backend. Blocking, for one thread.
public struct BackendClient: ~Copyable {
    /// A product on sale.
    public struct Product: Sendable, Equatable {
        /// The app's own code.
        public let code: String
        /// What StoreKit is asked for.
        public let appleProductID: String
        /// The first asset it grants.
        public let assetType: String?
        /// How much of it.
        public let grantAmount: Int64?
    }

    /// A pre-order.
    public struct Order: Sendable, Equatable {
        /// Its number.
        public let number: String
        /// What is ordered.
        public let appleProductID: String
        /// What StoreKit is given along.
        public let appAccountToken: String
    }

    /// A success of verify.
    public struct Delivery: Sendable, Equatable {
        /// `GRANTED` or `ALREADY_GRANTED`.
        public let status: String
        /// Apple's id.
        public let transactionID: String
        /// The wallet by the app's names.
        public let balance: [String: Int64]
        /// The whole answer.
        public let body: JSONObject

        /// Whether this very call delivered.
        public var isNew: Bool { status == "GRANTED" }
    }

    /// Names the request answered last in the backend's logs.
    public private(set) var lastRequestID: String?
    private let base: String
    private let authorization: String
    private var client: HTTPClient

    /// Calls `base` (such as `http://127.0.0.1:8080`, with the app's path prefix) with a bearer token.
    ///
    /// - Parameter timeout: of one call; longer than the backend's own patience of 5 s, so that its answer is heard.
    public init(base: String, token: String, timeout: Duration = .seconds(15)) throws(BackendError) {
        self.base = base
        authorization = "Bearer " + token
        var configuration = HTTPClient.Configuration()
        configuration.timeout = timeout
        do {
            client = try HTTPClient.open(configuration)
        } catch {
            throw .transport(error)
        }
    }

    /// What is on sale, in the backend's order.
    public mutating func products() throws(BackendError) -> [Product] {
        let body = try send("GET", "/api/iap/products")
        return try Self.read {
            () throws(JSONError) in
            try body.readEach("products") { (product) throws(JSONError) in
                Product(
                    code: try product.string("productCode"), appleProductID: try product.string("appleProductId"),
                    assetType: try product.optionalString("assetType"),
                    grantAmount: try product.optionalInt64("grantAmount"))
            }
        }
    }

    /// Makes a pre-order.
    public mutating func order(_ appleProductID: String) throws(BackendError) -> Order {
        let body = try send("POST", "/api/iap/orders", ["appleProductId": .string(appleProductID)])
        return try Self.read {
            () throws(JSONError) in
            Order(
                number: try body.string("orderNo"), appleProductID: try body.string("appleProductId"),
                appAccountToken: try body.string("appAccountToken"))
        }
    }

    /// Submits a purchase, with its order where that is known.
    public mutating func verify(_ signedTransactionInfo: String, orderNumber: String?) throws(BackendError) -> Delivery
    {
        var request: JSONObject = ["signedTransactionInfo": .string(signedTransactionInfo)]
        if let orderNumber { request.set("orderNo", .string(orderNumber)) }
        let path = orderNumber == nil ? "/api/iap/apple/verify-without-order" : "/api/iap/apple/verify"
        let body = try send("POST", path, request)
        return try Self.read {
            () throws(JSONError) in
            Delivery(
                status: try body.string("status"), transactionID: try body.string("transactionId"),
                balance: try body.read("balance") { (object) throws(JSONError) in try Self.amounts(object) },
                body: body)
        }
    }

    /// The wallet by the app's names.
    public mutating func balance() throws(BackendError) -> [String: Int64] {
        let body = try send("GET", "/api/wallet/balance")
        return try Self.read { () throws(JSONError) in try Self.amounts(body) }
    }

    /// Any call: the body of a success.
    public mutating func send(_ method: String, _ path: String, _ body: JSONObject? = nil) throws(BackendError)
        -> JSONObject
    {
        let response: HTTPClientResponse
        do {
            var headers = [("Authorization", authorization), ("Accept", "application/json")]
            if body != nil { headers.append(("Content-Type", "application/json")) }
            response = try client.send(
                HTTPClientRequest(method, base + path, headers: headers, body: body.map { JSONWriter.write($0) }))
        } catch {
            throw .transport(error)
        }
        lastRequestID = response.header("X-Request-Id")
        guard (200..<300).contains(response.status) else { throw .problem(BackendProblem(response)) }
        return try Self.read { () throws(JSONError) in try JSONReader.parseObject(response.body) }
    }

    private static func amounts(_ object: JSONObject) throws(JSONError) -> [String: Int64] {
        var amounts: [String: Int64] = [:]
        for key in object.keys { amounts[key] = try object.int64(key) }
        return amounts
    }

    private static func read<Value>(_ body: () throws(JSONError) -> Value) throws(BackendError) -> Value {
        do {
            return try body()
        } catch {
            throw .unreadable(error)
        }
    }
}
