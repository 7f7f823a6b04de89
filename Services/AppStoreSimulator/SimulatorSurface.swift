import AppStoreSimulation
import HTTPServer
import JSON
import Observability
import Runtime

/// The HTTP calls. Errors are problem details with a stable code; nothing here needs a login, it belongs on loopback.
struct SimulatorSurface: Sendable {
    /// Bytes of a body: a purchase with every field overridden has some 2 KB.
    static let longestBody = 64 << 10

    private let worker: Worker<StoreWorker.Request, JSONObject>
    private let logger: Logger
    private let router: Router<Call>

    private enum Call: Sendable {
        case purchase, approval, unfinished, finish, refund, transaction, live, ready
    }

    init(worker: Worker<StoreWorker.Request, JSONObject>, logger: Logger) {
        self.worker = worker
        self.logger = logger
        var router = Router<Call>()
        router.add("POST", "/simulator/purchases", .purchase)
        router.add("POST", "/simulator/approvals", .approval)
        router.add("GET", "/simulator/unfinished", .unfinished)
        router.add("POST", "/simulator/finish", .finish)
        router.add("POST", "/simulator/refunds", .refund)
        router.add("GET", "/simulator/transactions/{id}", .transaction)
        router.add("GET", "/livez", .live)
        router.add("GET", "/readyz", .ready)
        self.router = router
    }

    /// Answers one request.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch router.resolve(method: request.method, path: request.path) {
        case .notFound:
            return Self.problem(404, "simulator.not_found", "There is nothing at this path.")
        case .methodNotAllowed(let allow):
            var response = Self.problem(405, "simulator.method_not_allowed", "Use one of: \(allow).")
            response.headers.append(("Allow", allow))
            return response
        case .found(.live, _):
            return .text(200, "ok\n")
        case .found(.ready, _):
            return worker.isOpen ? .text(200, "ok\n") : .text(503, "the store is not open yet\n")
        case .found(let call, let parameters):
            return await carryOut(call, request, parameters)
        }
    }

    private func carryOut(_ call: Call, _ request: HTTPRequest, _ parameters: [String: String]) async -> HTTPResponse {
        do {
            let answer = try await worker.submit(try Self.storeRequest(call, request, parameters))
            logger.debug("answered", ["http.method": .string(request.method), "http.status": .int(200)])
            return Self.json(200, answer)
        } catch let error as StoreError {
            logger.debug("refused", ["http.method": .string(request.method), "error.code": .string(error.code)])
            return Self.problem(Self.status(of: error), error.code, error.description)
        } catch let error as JSONError {
            return Self.problem(400, error.code, error.description)
        } catch {
            return Self.problem(503, "simulator.busy", "The store cannot serve now. Try again.")
        }
    }

    private static func storeRequest(_ call: Call, _ request: HTTPRequest, _ parameters: [String: String]) throws
        -> StoreWorker.Request
    {
        switch call {
        case .purchase:
            return .purchase(try PurchaseRequest(try body(request)))
        case .approval:
            let body = try body(request)
            return .decide(pendingID: try body.string("pendingId"), isApproved: try body.bool("approved"))
        case .unfinished:
            guard let account = request.queryValue("appleAccount") else {
                throw StoreError.invalid(field: "appleAccount", problem: "is missing in the query")
            }
            return .unfinished(appleAccount: account, environment: try environment(request.queryValue("environment")))
        case .finish:
            let body = try body(request)
            return .finish(
                transactionID: try body.string("transactionId"),
                environment: try environment(try body.optionalString("environment")))
        case .refund:
            let body = try body(request)
            return .refund(
                transactionID: try body.string("transactionId"),
                environment: try environment(try body.optionalString("environment")),
                percentage: try body.optionalInt64("percentage") ?? 100)
        case .transaction:
            return .transaction(
                transactionID: parameters["id"] ?? "", environment: try environment(request.queryValue("environment")))
        case .live, .ready:
            throw StoreError.invalid(field: "path", problem: "is no call of the store")
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

    private static func status(of error: StoreError) -> Int {
        switch error {
        case .invalid: 400
        case .unknownTransaction, .unknownPending: 404
        case .transactionExists: 409
        case .storage, .signing, .unreachable, .refused: 500
        }
    }

    private static func problem(_ status: Int, _ code: String, _ detail: String) -> HTTPResponse {
        let body: JSONObject = [
            "status": .integer(Int64(status)), "title": "The simulator refused", "code": .string(code),
            "detail": .string(detail),
        ]
        return HTTPResponse(
            status: status, headers: [("Content-Type", "application/problem+json")], body: JSONWriter.write(body))
    }

    private static func json(_ status: Int, _ body: JSONObject) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/json")], body: JSONWriter.write(body))
    }
}
