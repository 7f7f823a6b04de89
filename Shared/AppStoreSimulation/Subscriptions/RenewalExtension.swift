public import JSON

/// Apple gives all active subscribers of a product more time: `POST /simulator/renewal-extensions`.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers.
public struct RenewalExtension: Sendable, Equatable {
    /// Whose.
    public var bundleID: String
    /// Of which product.
    public var productID: String
    /// By how many days; Apple's limit is 90.
    public var days: Int64
    /// Where.
    public var environment: String
    /// Subscriptions (original transaction ids) that it does not succeed for.
    public var failing: [String]
    /// What names the request in the summary; nil draws one.
    public var requestIdentifier: String?
    /// How it is told.
    public var notification: DeliveryPlan

    /// Describes one.
    public init(
        bundleID: String, productID: String, days: Int64, environment: String = "Production", failing: [String] = [],
        requestIdentifier: String? = nil, notification: DeliveryPlan = DeliveryPlan()
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.days = days
        self.environment = environment
        self.failing = failing
        self.requestIdentifier = requestIdentifier
        self.notification = notification
    }

    /// Reads the body of the call.
    public init(_ body: JSONObject) throws(StoreError) {
        let plan: JSONObject?
        do throws(JSONError) {
            plan = try body.optionalObject("notification")
            bundleID = try body.string("bundleId")
            productID = try body.string("productId")
            days = try body.int64("days", in: 1...90)
            environment = try body.optionalString("environment") ?? "Production"
            failing = try body.optionalStrings("failing") ?? []
            requestIdentifier = try body.optionalString("requestIdentifier")
        } catch {
            throw .invalid(field: error.path, problem: "is missing or wrong (\(error.code))")
        }
        guard PurchaseRequest.environments.contains(environment) else {
            throw .invalid(field: "environment", problem: "is none")
        }
        notification = try DeliveryPlan(plan)
    }

    /// The body of the call.
    public var json: JSONObject {
        var body: JSONObject = [
            "bundleId": .string(bundleID), "productId": .string(productID), "days": .integer(days),
            "environment": .string(environment), "failing": .array(failing.map { .string($0) }),
            "notification": .object(notification.json),
        ]
        if let requestIdentifier { body.set("requestIdentifier", .string(requestIdentifier)) }
        return body
    }
}

extension SimulatedStore {
    /// Extends every active subscription of the product. Tells RENEWAL_EXTENDED of each, RENEWAL_EXTENSION with FAILURE of
    /// those that it does not succeed for, and RENEWAL_EXTENSION with SUMMARY in the end.
    public mutating func extendRenewals(_ request: RenewalExtension) throws(StoreError) -> JSONObject {
        let active = books.subscriptions.values.filter {
            $0.bundleID == request.bundleID && $0.productID == request.productID
                && $0.environment == request.environment && $0.status == .active
        }.map(\.originalTransactionID).sorted()
        var failed = 0
        for id in active {
            guard request.failing.contains(id) else {
                _ = try change(
                    id, environment: request.environment, .extend(days: request.days),
                    notification: request.notification)
                continue
            }
            failed += 1
            guard let subscription = books.subscription(id, request.environment),
                let record = books.record(subscription.lastTransactionID, request.environment)
            else { throw .unknownTransaction }
            try notify("RENEWAL_EXTENSION", "FAILURE", about: record, request.notification)
        }
        let identifier: String
        if let given = request.requestIdentifier { identifier = given } else { identifier = try randomUUID() }
        var summary: JSONObject = [
            "requestIdentifier": .string(identifier),
            "environment": .string(request.environment), "bundleId": .string(request.bundleID),
            "productId": .string(request.productID), "failedCount": .integer(Int64(failed)),
            "succeededCount": .integer(Int64(active.count - failed)),
        ]
        if request.environment == "Production", let id = apps?[request.bundleID]?.appAppleID {
            summary.set("appAppleId", .integer(id))
        }
        _ = try tell(
            "RENEWAL_EXTENSION", "SUMMARY", bundleID: request.bundleID, environment: request.environment,
            transactionID: nil, fields: ["data": .null, "summary": .object(summary)], request.notification)
        return summary
    }
}

extension RemoteStore {
    /// Gives all active subscribers of a product more time: the summary that is told.
    public func extendRenewals(_ request: RenewalExtension) throws(StoreError) -> JSONObject {
        try send("POST", "/simulator/renewal-extensions", request.json)
    }
}
