import HTTPServer
import JSON
import Messages
import Observability
import Reloading
import WebSocket

/// Every request passes here: app, route, caller, body, answer, and one line in the access log.
///
/// Called on Swift's cooperative pool; nothing in it blocks.
struct FrontDoor: Sendable {
    let apps: LiveApps
    private let surfaces: Surfaces
    let authenticator: Authenticator
    let security: SecurityLog
    let metrics: GatewayMetrics
    let logger: Logger
    let limits: MessageLimits
    let sockets: WebSocketHub?
    private let refusals: LineBudget

    /// The door in front of the calls of `surfaces`.
    ///
    /// - Parameters:
    ///   - limits: what one user may ask, and what one address may send over sockets; what it asks over HTTP is limited
    ///     before (``ClientGate``).
    ///   - sockets: keeps the WebSockets; nil: there are none.
    init(
        apps: LiveApps, surfaces: Surfaces, authenticator: Authenticator, security: SecurityLog,
        metrics: GatewayMetrics, logger: Logger, limits: MessageLimits = MessageLimits(),
        sockets: WebSocketHub? = nil
    ) {
        self.apps = apps
        self.surfaces = surfaces
        self.authenticator = authenticator
        self.security = security
        self.metrics = metrics
        self.logger = logger
        self.limits = limits
        self.sockets = sockets
        refusals = LineBudget(now: RateLimiter.monotonicNanoseconds)
    }

    /// Answers a request that the server has read completely.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let start = ContinuousClock.now
        metrics.begin()
        var trace = RequestTrace(request)
        let response = await respond(request, &trace)
        let duration = ContinuousClock.now - start
        metrics.end(route: trace.route, status: response.status, duration: duration)
        logger.info("request", trace.fields(status: response.status, duration: duration))
        return response
    }

    /// Answers a request that the server itself refused; there is no more to log than why.
    func refuse(_ failure: HTTPFailure) -> HTTPResponse {
        if let limit = Limit(failure) { metrics.count(limit) }
        return refuse(Problem(failure), reason: failure.code)
    }

    /// Answers a request that the gate refused.
    func refuse(_ limit: Limit, retryAfter: Duration) -> HTTPResponse {
        metrics.count(limit)
        return refuse(Problem(limit, retryAfter: retryAfter), reason: "limit." + limit.rawValue)
    }

    private func refuse(_ problem: Problem, reason: String) -> HTTPResponse {
        let id = RequestTrace.newID()
        let response = problem.response(requestID: id)
        metrics.count(status: response.status)
        guard let keptBack = refusals.line(reason) else { return response }
        var fields: [String: LogValue] = [
            "http.failure": .string(reason), "http.status": .int(response.status), "correlation.id": .string(id),
        ]
        if keptBack > 0 { fields["lines.kept.back"] = .int(keptBack) }
        logger.info("request refused", fields)
        return response
    }

    private func respond(_ request: HTTPRequest, _ trace: inout RequestTrace) async -> HTTPResponse {
        do throws(Problem) {
            let (endpoint, call) = try admit(request, &trace)
            if let reader = endpoint.socket {
                var response = try open(request, endpoint, reader, call)
                response.headers.append(("X-Request-Id", trace.id))
                return response
            }
            let body = try await endpoint.answer(call)
            let headers = [("Cache-Control", "no-store"), ("X-Request-Id", trace.id)]
            guard let body else { return HTTPResponse(status: 200, headers: headers) }
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "application/json")] + headers, body: JSONWriter.write(body))
        } catch {
            return told(error, &trace).response(requestID: trace.id)
        }
    }

    /// The problem as the app's surface calls it; noted for the log.
    func told(_ problem: Problem, _ trace: inout RequestTrace) -> Problem {
        var problem = problem
        if trace.subject == .purchase, problem.mayFinish == nil { problem.mayFinish = false }
        problem = surfaces.translated(problem, for: trace.surface)
        trace.code = problem.code
        trace.reason = problem.members["reason"]?.stringValue
        return problem
    }

    /// The order of checks: app, route, caller, the caller's limit, body. Nobody learns about bodies without a token.
    private func admit(_ request: HTTPRequest, _ trace: inout RequestTrace) throws(Problem) -> (Endpoint, Call) {
        guard let (app, path) = apps.value.find(host: request.header("Host"), path: request.path) else {
            throw Problem(.appNotFound)
        }
        trace.app = app.id
        trace.surface = app.surface
        let (endpoint, parameters) = try route(request.method, path, of: app)
        trace.route = endpoint.route
        trace.subject = endpoint.subject
        let caller: Caller? = if let token = endpoint.token { try caller(request, app, token) } else { nil }
        if let caller { try limit(caller, of: app) }
        let body: JSONObject =
            if let limit = endpoint.bodyLimit { try JSONBody.read(request, limit: limit) } else { [:] }
        let call = Call(
            app: app, caller: caller, body: body, content: request.body, query: request.query, parameters: parameters,
            correlationID: trace.id)
        return (endpoint, call)
    }

    private func route(
        _ method: String, _ path: String, of app: ServedApp
    ) throws(Problem) -> (Endpoint, [String: String]) {
        switch surfaces.resolve(app, method: method, path: path) {
        case .found(let endpoint, let parameters): return (endpoint, parameters)
        case .notFound: throw Problem(.notFound)
        case .methodNotAllowed(let allow):
            var problem = Problem(.methodNotAllowed, detail: "Use \(allow).")
            problem.headers = [Problem.Header(name: "Allow", value: allow)]
            throw problem
        }
    }

    /// Users only: a server calls for all of them.
    func limit(_ caller: Caller, of app: ServedApp) throws(Problem) {
        guard caller.kind == .login, let wait = limits.take(app.id, caller.subject) else { return }
        metrics.count(.userRate)
        throw Problem(.userRate, retryAfter: wait)
    }

    private func caller(_ request: HTTPRequest, _ app: ServedApp, _ kind: TokenKind) throws(Problem) -> Caller {
        switch authenticator.judge(request, for: app, kind: kind) {
        case .caller(let caller): return caller
        case .refused(let refusal):
            security.record(refusal)
            throw Problem(refusal, needed: kind)
        }
    }
}
