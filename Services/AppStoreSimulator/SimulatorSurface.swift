import AppStoreSimulation
import Dispatch
import HTTPServer
import JSON
import Observability
import Runtime

/// The HTTP calls. Errors are problem details with a stable code; nothing here needs a login, it belongs on loopback.
/// Paths with `/inApps/` are Apple's own, see ``ServerAPISurface``.
struct SimulatorSurface: Sendable {
    /// Bytes of a body: a purchase with every field overridden has some 2 KB.
    static let longestBody = 64 << 10

    private let worker: Worker<StoreWorker.Request, JSONObject>
    private let serverAPI: ServerAPISurface
    private let faults: ServerAPIFaults
    private let logger: Logger
    private let router: Router<Endpoint>
    private let control: ControlCalls
    private let responder: SimulatedResponder
    private let verifyReceipt: VerifyReceiptSurface

    private enum Endpoint: Sendable {
        case control(ControlCalls.Call)
        case serverAPIFault
        case verifyReceiptFault
        case revocation
        case revocationControl
        case live
        case ready
    }

    init(
        worker: Worker<StoreWorker.Request, JSONObject>, apps: SimulatedApps, outbox: NotificationOutbox,
        responder: SimulatedResponder, verifyReceipt: VerifyReceiptSurface, logger: Logger
    ) {
        self.worker = worker
        self.responder = responder
        self.verifyReceipt = verifyReceipt
        self.logger = logger
        faults = ServerAPIFaults()
        serverAPI = ServerAPISurface(worker: worker, apps: apps, faults: faults, logger: logger)
        control = ControlCalls(apps: apps, outbox: outbox)
        var router = Router<Endpoint>()
        for (method, path, call) in ControlCalls.routes { router.add(method, "/simulator/" + path, .control(call)) }
        router.add("POST", "/simulator/server-api/faults", .serverAPIFault)
        router.add("POST", "/simulator/verify-receipt/faults", .verifyReceiptFault)
        router.add("POST", "/ocsp", .revocation)
        router.add("POST", "/simulator/ocsp", .revocationControl)
        router.add("GET", "/livez", .live)
        router.add("GET", "/readyz", .ready)
        self.router = router
    }

    /// Answers one request.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        if let answer = await serverAPI.answer(request) { return answer }
        if let answer = await verifyReceipt.answer(request) { return answer }
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
        case .found(.serverAPIFault, _):
            return await answer(request) { try faults.plan(try JSONReader.parseObject(request.body)) }
        case .found(.verifyReceiptFault, _):
            return await answer(request) { try verifyReceipt.faults.plan(try JSONReader.parseObject(request.body)) }
        case .found(.revocationControl, _):
            return await answer(request) {
                try responder.set(try JSONReader.parseObject(request.body), now: WallClock.milliseconds() / 1_000)
            }
        case .found(.revocation, _): return await answerAboutRevocation(request)
        case .found(.control(let call), let parameters):
            return await answer(request) { try await worker.submit(try control.request(call, request, parameters)) }
        }
    }

    /// RFC 6960 §A.1: the question is the body of a POST.
    private func answerAboutRevocation(_ request: HTTPRequest) async -> HTTPResponse {
        switch responder.answer(request.body, now: WallClock.milliseconds() / 1_000) {
        case .unreachable:
            return HTTPResponse(status: 503, closesConnection: true)
        case .answer(let answer, let milliseconds):
            if milliseconds > 0 {
                await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) {
                        continuation.resume()
                    }
                }
            }
            return HTTPResponse(status: 200, headers: [("Content-Type", "application/ocsp-response")], body: answer)
        }
    }

    private func answer(
        _ request: HTTPRequest, _ body: () async throws -> JSONObject
    ) async -> HTTPResponse {
        do {
            let answer = try await body()
            logger.debug("answered", ["http.method": .string(request.method), "http.status": .int(200)])
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "application/json")], body: JSONWriter.write(answer))
        } catch let error as StoreError {
            logger.debug("refused", ["http.method": .string(request.method), "error.code": .string(error.code)])
            return Self.problem(Self.status(of: error), error.code, error.description)
        } catch let error as JSONError {
            return Self.problem(400, error.code, error.description)
        } catch {
            return Self.problem(503, "simulator.busy", "The store cannot serve now. Try again.")
        }
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
}
