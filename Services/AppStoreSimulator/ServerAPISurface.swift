import AppStoreSimulation
import Dispatch
import HTTPServer
import JSON
import Observability
import Runtime

/// Apple's Server API below `/inApps/` (Production) and `/sandbox/inApps/` (Sandbox).
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi.
struct ServerAPISurface: Sendable {
    private enum Call: Sendable {
        case transaction, historyV1, history, subscriptions, consumption, consumptionV1, order, refunds
        case notifications, test, testStatus
    }

    private let worker: Worker<StoreWorker.Request, JSONObject>
    private let authentication: ServerAPIAuthentication
    private let faults: ServerAPIFaults
    private let logger: Logger
    private let router: Router<Call>

    private static let sandbox = "/sandbox"

    init(
        worker: Worker<StoreWorker.Request, JSONObject>, apps: SimulatedApps, faults: ServerAPIFaults, logger: Logger
    ) {
        self.worker = worker
        authentication = ServerAPIAuthentication(apps: apps)
        self.faults = faults
        self.logger = logger
        var router = Router<Call>()
        router.add("GET", "/inApps/v1/transactions/{id}", .transaction)
        router.add("GET", "/inApps/v1/history/{id}", .historyV1)
        router.add("GET", "/inApps/v2/history/{id}", .history)
        router.add("GET", "/inApps/v1/subscriptions/{id}", .subscriptions)
        router.add("PUT", "/inApps/v2/transactions/consumption/{id}", .consumption)
        router.add("PUT", "/inApps/v1/transactions/consumption/{id}", .consumptionV1)
        router.add("GET", "/inApps/v1/lookup/{id}", .order)
        router.add("GET", "/inApps/v2/refund/lookup/{id}", .refunds)
        router.add("POST", "/inApps/v1/notifications/history", .notifications)
        router.add("POST", "/inApps/v1/notifications/test", .test)
        router.add("GET", "/inApps/v1/notifications/test/{id}", .testStatus)
        self.router = router
    }

    /// Answers a request; nil if its path is none of Apple's.
    func answer(_ request: HTTPRequest) async -> HTTPResponse? {
        let isSandbox = request.path.hasPrefix(Self.sandbox + "/inApps/")
        let path = isSandbox ? String(request.path.dropFirst(Self.sandbox.count)) : request.path
        guard path.hasPrefix("/inApps/") else { return nil }
        let fault = faults.take(path)
        if let fault, let answer = await Self.answer(instead: fault) { return answer }
        guard
            let app = authentication.app(
                authorization: request.header("Authorization"), now: WallClock.milliseconds() / 1_000)
        else { return Self.unauthorized }
        guard case .found(let call, let parameters) = router.resolve(method: request.method, path: path) else {
            return .text(404, "Not Found\n")
        }
        var answer = await carryOut(
            call, request, parameters["id"] ?? "", app, isSandbox ? "Sandbox" : "Production")
        if fault?.mode == .truncated { answer.body = Array(answer.body.prefix(answer.body.count / 2)) }
        logger.debug(
            "server api", ["http.method": .string(request.method), "http.status": .int(answer.status)])
        return answer
    }

    private func carryOut(
        _ call: Call, _ request: HTTPRequest, _ id: String, _ app: SimulatedApp, _ environment: String
    ) async -> HTTPResponse {
        do {
            let answer = try await worker.submit(try storeRequest(call, request, id, app, environment))
            switch call {
            // Accepted, without a body.
            case .consumption, .consumptionV1: return HTTPResponse(status: 202)
            default: return Self.json(200, answer)
            }
        } catch let refusal as ServerAPIRefusal {
            return Self.json(refusal.status, refusal.json)
        } catch is JSONError {
            return Self.json(400, ServerAPIRefusal(4_000_000, "Bad request.").json)
        } catch {
            return Self.json(500, ServerAPIRefusal(5_000_001, "An unknown error occurred. Please try again.").json)
        }
    }

    private func storeRequest(
        _ call: Call, _ request: HTTPRequest, _ id: String, _ app: SimulatedApp, _ environment: String
    ) throws -> StoreWorker.Request {
        let query = request.query
        switch call {
        case .transaction: return { try $0.transactionInfo(id, of: app, environment: environment) }
        case .history, .historyV1:
            let isVersion1 = call == .historyV1
            return {
                try $0.transactionHistory(
                    id, of: app, environment: environment, query: query, isVersion1: isVersion1)
            }
        case .subscriptions:
            let statuses = query.filter { $0.name == "status" }.map(\.value)
            return { try $0.subscriptionStatuses(id, of: app, environment: environment, statuses: statuses) }
        case .order: return { try $0.lookUp(order: id, of: app, environment: environment) }
        case .refunds:
            let revision = request.queryValue("revision")
            return { try $0.refundHistory(id, of: app, environment: environment, revision: revision) }
        case .test: return { try $0.requestTest(of: app, environment: environment) }
        case .testStatus: return { try $0.testStatus(id, of: app, environment: environment) }
        case .notifications:
            let body = try JSONReader.parseObject(request.body)
            let token = request.queryValue("paginationToken")
            return {
                try $0.notificationHistory(body, of: app, environment: environment, paginationToken: token)
            }
        case .consumption, .consumptionV1:
            let body = try JSONReader.parseObject(request.body)
            let isVersion1 = call == .consumptionV1
            return { store in
                if isVersion1 {
                    try store.takeConsumptionV1(body, about: id, of: app, environment: environment)
                } else {
                    try store.takeConsumption(body, about: id, of: app, environment: environment)
                }
                return [:]
            }
        }
    }

    // MARK: - Faults

    /// The answer in the place of the true one; nil for faults that spoil the true one.
    private static func answer(instead fault: ServerAPIFaults.Fault) async -> HTTPResponse? {
        switch fault.mode {
        case .rateLimited:
            var answer = json(429, ServerAPIRefusal(4_290_000, "Rate limit exceeded.").json)
            answer.headers.append(("Retry-After", String(WallClock.milliseconds() + fault.milliseconds)))
            return answer
        case .error:
            let refusal = ServerAPIRefusal(fault.errorCode, "As planned.")
            return json(refusal.status, refusal.json)
        case .unauthorized: return unauthorized
        case .timeout:
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(fault.milliseconds))) {
                    continuation.resume()
                }
            }
            return json(500, ServerAPIRefusal(5_000_001, "An unknown error occurred. Please try again.").json)
        case .notJSON:
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "text/html")], body: Array("<html>Sorry</html>".utf8))
        case .empty: return HTTPResponse(status: 200)
        case .truncated: return nil
        }
    }

    /// 401 answers carry no JSON (observed by users of Apple's libraries).
    private static let unauthorized = HTTPResponse.text(401, "Unauthenticated\n")

    private static func json(_ status: Int, _ body: JSONObject) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: JSONWriter.write(body))
    }
}
