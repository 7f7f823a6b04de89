public import JSON

/// What an app asks StoreKit for when a person taps "buy".
public struct PurchaseRequest: Sendable, Equatable {
    /// The environments the store keeps books for. Other spellings can be signed by way of `fields`.
    public static let environments = ["Production", "Sandbox"]
    /// The most units of one purchase (StoreKit's limit for quantity).
    public static let quantities: ClosedRange<Int64> = 1...10

    /// The app.
    public var bundleID: String
    /// What is bought.
    public var productID: String
    /// Apple's text of the kind, such as `Consumable`.
    public var type: String
    /// The UUID the app passes along.
    public var appAccountToken: String?
    /// Units.
    public var quantity: Int64
    /// `Production` or `Sandbox`.
    public var environment: String
    /// Who pays: any name of a simulated Apple account.
    public var appleAccount: String
    /// Payload fields that replace those the store would write, also by nonsense.
    public var fields: JSONObject
    /// Whether a parent has to approve first (Ask to Buy): nothing is issued until then.
    public var needsApproval: Bool
    /// How ONE_TIME_CHARGE is told, where the app has an address.
    public var notification: DeliveryPlan
    /// Whether the answer is signed by a certificate that is not for purchases. What is asked for later is genuine.
    public var isUnmarked: Bool

    /// A purchase of one consumable in Production unless said otherwise.
    public init(
        bundleID: String, productID: String, appleAccount: String, type: String = "Consumable",
        appAccountToken: String? = nil, quantity: Int64 = 1, environment: String = "Production",
        fields: JSONObject = [:], needsApproval: Bool = false, notification: DeliveryPlan = DeliveryPlan(),
        isUnmarked: Bool = false
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.appleAccount = appleAccount
        self.type = type
        self.appAccountToken = appAccountToken
        self.quantity = quantity
        self.environment = environment
        self.fields = fields
        self.needsApproval = needsApproval
        self.notification = notification
        self.isUnmarked = isUnmarked
    }

    /// Reads the body of `POST /simulator/purchases`; members it does not know are refused, they are usually misspelt.
    public init(_ body: JSONObject) throws(StoreError) {
        let known = [
            "bundleId", "productId", "appleAccount", "type", "appAccountToken", "quantity", "environment", "fields",
            "needsApproval", "notification", "unmarked",
        ]
        for key in body.keys where !known.contains(key) {
            throw .invalid(field: "body", problem: "has a member that is not one of: " + known.joined(separator: ", "))
        }
        let plan = try DeliveryPlan(body["notification"]?.objectValue)
        do throws(JSONError) {
            _ = try body.optionalObject("notification")
            self.init(
                bundleID: try body.string("bundleId"), productID: try body.string("productId"),
                appleAccount: try body.string("appleAccount"),
                type: try body.optionalString("type") ?? "Consumable",
                appAccountToken: try body.optionalString("appAccountToken"),
                quantity: try body.optionalInt64("quantity") ?? 1,
                environment: try body.optionalString("environment") ?? "Production",
                fields: try body.optionalObject("fields") ?? [:],
                needsApproval: try body.optionalBool("needsApproval") ?? false, notification: plan,
                isUnmarked: try body.optionalBool("unmarked") ?? false)
        } catch {
            throw .invalid(field: error.path, problem: "is missing or has the wrong type (\(error.code))")
        }
        try validate()
    }

    /// The body of `POST /simulator/purchases`.
    public var json: JSONObject {
        var object: JSONObject = [
            "bundleId": .string(bundleID), "productId": .string(productID), "appleAccount": .string(appleAccount),
            "type": .string(type), "quantity": .integer(quantity), "environment": .string(environment),
        ]
        if let appAccountToken { object.set("appAccountToken", .string(appAccountToken)) }
        if !fields.isEmpty { object.set("fields", .object(fields)) }
        if needsApproval { object.set("needsApproval", .bool(true)) }
        if isUnmarked { object.set("unmarked", .bool(true)) }
        if notification != DeliveryPlan() { object.set("notification", .object(notification.json)) }
        return object
    }

    /// What StoreKit itself would refuse. Nonsense that shall reach the verifier goes into `fields`.
    func validate() throws(StoreError) {
        for (name, value) in [("bundleId", bundleID), ("productId", productID), ("appleAccount", appleAccount)]
        where value.isEmpty || value.utf8.count > 255 {
            throw .invalid(field: name, problem: "must have 1 to 255 bytes")
        }
        guard Self.environments.contains(environment) else {
            throw .invalid(
                field: "environment", problem: "must be one of: " + Self.environments.joined(separator: ", "))
        }
        guard Self.quantities.contains(quantity) else {
            throw .invalid(field: "quantity", problem: "must be from 1 to \(Self.quantities.upperBound)")
        }
        if let appAccountToken, !Self.isUUID(appAccountToken) {
            throw .invalid(field: "appAccountToken", problem: "must be a UUID")
        }
    }

    /// 8-4-4-4-12 hexadecimal digits, the only form Swift's `UUID(uuidString:)` takes.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.joined().allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
            }
    }
}

/// What StoreKit says to a purchase.
public enum PurchaseResult: Sendable, Equatable {
    /// Paid; the transaction stays unfinished until the app finishes it.
    case purchased(SignedPurchase)
    /// A parent has to approve; the transaction may come later, or never.
    case pending(id: String)
}

/// A transaction as an app sees it.
public struct SignedPurchase: Sendable, Equatable {
    /// Apple's id, digits.
    public let transactionID: String
    /// `Production` or `Sandbox`.
    public let environment: String
    /// Who paid.
    public let appleAccount: String
    /// Whether the app has finished it.
    public let isFinished: Bool
    /// The newest statement about it, signed: StoreKit's `jwsRepresentation`.
    public let signedTransactionInfo: String

    /// Puts one together.
    public init(
        transactionID: String, environment: String, appleAccount: String, isFinished: Bool,
        signedTransactionInfo: String
    ) {
        self.transactionID = transactionID
        self.environment = environment
        self.appleAccount = appleAccount
        self.isFinished = isFinished
        self.signedTransactionInfo = signedTransactionInfo
    }

    /// Reads what the simulator answers.
    init(_ body: JSONObject) throws(JSONError) {
        transactionID = try body.string("transactionId")
        environment = try body.string("environment")
        appleAccount = try body.string("appleAccount")
        isFinished = try body.bool("finished")
        signedTransactionInfo = try body.string("signedTransactionInfo")
    }

    /// What the simulator answers.
    public var json: JSONObject {
        [
            "transactionId": .string(transactionID), "environment": .string(environment),
            "appleAccount": .string(appleAccount), "finished": .bool(isFinished),
            "signedTransactionInfo": .string(signedTransactionInfo), "orderId": .string(orderID),
        ]
    }

    /// What Apple's e-mail calls the purchase; it follows from the transaction's id.
    public var orderID: String { Self.orderID(of: transactionID) }

    static func orderID(of transactionID: String) -> String {
        "M" + (UInt64(transactionID).map { String($0, radix: 36, uppercase: true) } ?? transactionID)
    }
}
