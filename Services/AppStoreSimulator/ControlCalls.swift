import AppStoreSimulation
import HTTPServer
import JSON

/// The calls under `/simulator/`: each is read here and becomes something that the store's thread does.
struct ControlCalls: Sendable {
    /// One call.
    enum Call: Sendable {
        case purchase, approval, unfinished, finish, transaction, consumption
        case refund, decline, requestConsumption, revoke
        case subscribe, changeSubscription, subscription, extendRenewals
        case notify, notifications, app
        case receipt
    }

    /// Method, path below `/simulator/`, call.
    static let routes: [(String, String, Call)] = [
        ("POST", "purchases", .purchase), ("POST", "approvals", .approval), ("GET", "unfinished", .unfinished),
        ("GET", "receipts", .receipt), ("POST", "finish", .finish), ("GET", "transactions/{id}", .transaction),
        ("GET", "transactions/{id}/consumption", .consumption), ("POST", "refunds", .refund),
        ("POST", "refund-declines", .decline), ("POST", "consumption-requests", .requestConsumption),
        ("POST", "family-revocations", .revoke), ("POST", "subscriptions", .subscribe),
        ("POST", "renewal-extensions", .extendRenewals),
        ("POST", "subscriptions/{id}", .changeSubscription), ("GET", "subscriptions/{id}", .subscription),
        ("POST", "notifications", .notify), ("GET", "notifications", .notifications), ("PUT", "apps/{id}", .app),
    ]

    let apps: SimulatedApps
    let outbox: NotificationOutbox

    /// What the store shall do for a request; throws what is wrong with it.
    func request(
        _ call: Call, _ request: HTTPRequest, _ parameters: [String: String]
    ) throws -> StoreWorker.Request {
        let id = parameters["id"] ?? ""
        switch call {
        case .purchase:
            let purchase = try PurchaseRequest(try Self.body(request))
            return { store in
                switch try store.purchase(purchase) {
                case .purchased(let purchase): return purchase.json
                case .pending(let id): return ["pendingId": .string(id)]
                }
            }
        case .approval:
            let body = try Self.body(request)
            let (pending, isApproved) = (try body.string("pendingId"), try body.bool("approved"))
            return { try $0.decide(pendingID: pending, isApproved: isApproved)?.json ?? ["declined": true] }
        case .receipt: return try Self.receipt(request)
        case .unfinished:
            guard let account = request.queryValue("appleAccount") else {
                throw StoreError.invalid(field: "appleAccount", problem: "is missing in the query")
            }
            let environment = try Self.environment(request.queryValue("environment"))
            return { store in
                let purchases = try store.unfinished(appleAccount: account, environment: environment)
                return ["transactions": .array(purchases.map { .object($0.json) })]
            }
        case .transaction:
            let environment = try Self.environment(request.queryValue("environment"))
            return { try $0.transaction(id, environment: environment).json }
        case .consumption:
            let environment = try Self.environment(request.queryValue("environment"))
            return { store in
                let told = try store.consumption(of: id, environment: environment)
                return ["consumption": .array(told.map { .object($0) })]
            }
        case .extendRenewals:
            let extended = try RenewalExtension(try Self.body(request))
            return { try $0.extendRenewals(extended) }
        case .finish, .refund, .decline, .requestConsumption, .revoke: return try Self.event(call, request)
        case .subscribe, .changeSubscription, .subscription: return try Self.subscription(call, request, id)
        case .notify, .notifications, .app: return try notification(call, request, id)
        }
    }

    private static func receipt(_ request: HTTPRequest) throws -> StoreWorker.Request {
        guard let bundleID = request.queryValue("bundleId"), let account = request.queryValue("appleAccount") else {
            throw StoreError.invalid(field: "bundleId or appleAccount", problem: "is missing in the query")
        }
        let environment = try environment(request.queryValue("environment"))
        return { store in
            let receipt = try store.receipt(bundleID: bundleID, appleAccount: account, environment: environment)
            return ["receipt": .string(receipt)]
        }
    }

    /// Calls about one transaction named in the body.
    private static func event(_ call: Call, _ request: HTTPRequest) throws -> StoreWorker.Request {
        let body = try body(request)
        let id = try body.string("transactionId")
        let environment = try environment(try body.optionalString("environment"))
        let plan = try DeliveryPlan(try body.optionalObject("notification"))
        switch call {
        case .finish:
            return { store in
                try store.finish(id, environment: environment)
                return ["transactionId": .string(id), "finished": true]
            }
        case .refund:
            let percentage = try body.optionalInt64("percentage", in: 0...100) ?? 100
            let milliunits = try body.optionalInt64("milliunits") ?? percentage * 1_000
            let reason = try body.optionalInt64("reason") ?? 0
            return {
                try $0.refund(
                    id, environment: environment, milliunits: milliunits, reason: reason, notification: plan
                ).json
            }
        case .decline:
            return { try $0.declineRefund(id, environment: environment, notification: plan).json }
        case .requestConsumption:
            let reason = try body.optionalString("reason") ?? "UNINTENDED_PURCHASE"
            return {
                try $0.requestConsumption(id, environment: environment, reason: reason, notification: plan).json
            }
        default:
            return { try $0.revoke(id, environment: environment, notification: plan).json }
        }
    }

    private static func subscription(
        _ call: Call, _ request: HTTPRequest, _ id: String
    ) throws -> StoreWorker.Request {
        if call == .subscription {
            let environment = try environment(request.queryValue("environment"))
            return { try $0.subscription(id, environment: environment) }
        }
        let body = try body(request)
        guard call == .changeSubscription else {
            let subscription = try SubscriptionRequest(body)
            return { try $0.subscribe(subscription) }
        }
        let action = try SubscriptionAction(body)
        let environment = try environment(try body.optionalString("environment"))
        let plan = try DeliveryPlan(try body.optionalObject("notification"))
        return { try $0.change(id, environment: environment, action, notification: plan) }
    }

    private func notification(
        _ call: Call, _ request: HTTPRequest, _ id: String
    ) throws -> StoreWorker.Request {
        switch call {
        case .app:
            let app = try SimulatedApp(try Self.body(request), bundleID: id)
            let apps = apps
            return { _ in
                try apps.register(app)
                return app.json
            }
        case .notifications:
            let transaction = request.queryValue("transactionId")
            let outbox = outbox
            return { _ in
                let wanted = outbox.all.filter { transaction == nil || $0.transactionID == transaction }
                // All of them with what was posted would be tens of megabytes.
                let told = wanted.map { notification -> JSONValue in
                    guard transaction == nil else { return .object(notification.json) }
                    return .object(JSONObject(notification.json.members.filter { $0.key != "signedPayload" }))
                }
                return ["notifications": .array(told)]
            }
        default:
            let body = try Self.body(request)
            let (type, subtype) = (try body.string("notificationType"), try body.optionalString("subtype"))
            let bundleID = try body.string("bundleId")
            let environment = try Self.environment(try body.optionalString("environment"))
            let transaction = try body.optionalString("transactionId")
            let fields = try body.optionalObject("fields") ?? [:]
            let plan = try DeliveryPlan(try body.optionalObject("notification"))
            return { store in
                let uuids = try store.tell(
                    type, subtype, bundleID: bundleID, environment: environment, transactionID: transaction,
                    fields: fields, plan)
                return ["notificationUUIDs": .array(uuids.map { .string($0) })]
            }
        }
    }

    private static func body(_ request: HTTPRequest) throws(JSONError) -> JSONObject {
        try JSONReader.parseObject(request.body)
    }

    /// Production unless said otherwise.
    private static func environment(_ text: String?) throws(StoreError) -> String {
        let environment = text ?? "Production"
        guard PurchaseRequest.environments.contains(environment) else {
            throw .invalid(
                field: "environment",
                problem: "must be one of: " + PurchaseRequest.environments.joined(separator: ", "))
        }
        return environment
    }
}
