public import JSON

/// A first purchase of an auto-renewable subscription.
public struct SubscriptionRequest: Sendable, Equatable {
    /// The app.
    public var bundleID: String
    /// What is subscribed to.
    public var productID: String
    /// Who pays.
    public var appleAccount: String
    /// The UUID the app passes along.
    public var appAccountToken: String?
    /// `Production` or `Sandbox`.
    public var environment: String
    /// Apple's number of the group: one product of it at a time.
    public var groupID: String
    /// Length of a period in seconds, before the store's acceleration.
    public var periodSeconds: Int64
    /// Whether it renews by itself when a period ends; else by command only.
    public var renewsItself: Bool
    /// How SUBSCRIBED is told.
    public var notification: DeliveryPlan

    /// Periods from a minute to two years.
    static let periods: ClosedRange<Int64> = 60...63_244_800

    /// A subscription of 30 days in Production that renews by command.
    public init(
        bundleID: String, productID: String, appleAccount: String, appAccountToken: String? = nil,
        environment: String = "Production", groupID: String = "21500000", periodSeconds: Int64 = 2_592_000,
        renewsItself: Bool = false, notification: DeliveryPlan = DeliveryPlan()
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.appleAccount = appleAccount
        self.appAccountToken = appAccountToken
        self.environment = environment
        self.groupID = groupID
        self.periodSeconds = periodSeconds
        self.renewsItself = renewsItself
        self.notification = notification
    }

    /// Reads the body of `POST /simulator/subscriptions`.
    public init(_ body: JSONObject) throws(StoreError) {
        let known = [
            "bundleId", "productId", "appleAccount", "appAccountToken", "environment", "groupId", "periodSeconds",
            "renewsItself", "notification",
        ]
        for key in body.keys where !known.contains(key) {
            throw .invalid(field: "body", problem: "has a member that is not one of: " + known.joined(separator: ", "))
        }
        let plan = try DeliveryPlan(body["notification"]?.objectValue)
        do throws(JSONError) {
            self.init(
                bundleID: try body.string("bundleId"), productID: try body.string("productId"),
                appleAccount: try body.string("appleAccount"),
                appAccountToken: try body.optionalString("appAccountToken"),
                environment: try body.optionalString("environment") ?? "Production",
                groupID: try body.optionalString("groupId") ?? "21500000",
                periodSeconds: try body.optionalInt64("periodSeconds", in: Self.periods) ?? 2_592_000,
                renewsItself: try body.optionalBool("renewsItself") ?? false, notification: plan)
        } catch {
            throw .invalid(field: error.path, problem: "is missing or has the wrong type (\(error.code))")
        }
        // What holds for every purchase.
        try PurchaseRequest(
            bundleID: bundleID, productID: productID, appleAccount: appleAccount, appAccountToken: appAccountToken,
            environment: environment
        ).validate()
    }

    /// The body of `POST /simulator/subscriptions`.
    public var json: JSONObject {
        var object: JSONObject = [
            "bundleId": .string(bundleID), "productId": .string(productID), "appleAccount": .string(appleAccount),
            "environment": .string(environment), "groupId": .string(groupID),
            "periodSeconds": .integer(periodSeconds), "renewsItself": .bool(renewsItself),
            "notification": .object(notification.json),
        ]
        if let appAccountToken { object.set("appAccountToken", .string(appAccountToken)) }
        return object
    }
}
