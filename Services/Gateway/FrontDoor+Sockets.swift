import HTTPServer
import JSON
import Messages
import Observability
import Reloading
import WebSocket

/// Requests that become WebSockets, and their messages.
///
/// A socket proves nothing for ever: every message is a request of its own, whose token is looked at again with the keys
/// that are in force now. So a key that is withdrawn, an app that is gone and a token that has expired end it.
extension FrontDoor {
    /// Whom a socket belongs to, as it said when it was opened.
    private struct Origin: Sendable {
        let app: AppID
        let authorization: String
        let client: IPAddress?
        let remoteAddress: String
        let route: String
    }

    /// A socket lives as long as its token, and ten years if that has no end worth the name: longer times overflow.
    private static let longestLife: Int64 = 315_360_000

    /// The answer 101.
    func open(_ request: HTTPRequest, _ endpoint: Endpoint, _ reader: SocketReader, _ call: Call) throws(Problem)
        -> HTTPResponse
    {
        guard let sockets else { throw Problem(.serviceBusy) }
        let origin = Origin(
            app: call.app.id, authorization: request.header("Authorization") ?? "", client: request.client,
            remoteAddress: request.client?.description ?? request.remoteAddress, route: endpoint.route)
        let left = min(max((call.caller?.expiresAt ?? 0) - authenticator.now() / 1_000, 0), Self.longestLife)
        do throws(WebSocketRefusal) {
            return try sockets.response(to: request, expiresAt: .now + .seconds(left)) { message in
                await answer(message, from: origin, reader)
            }
        } catch {
            if let limit = Limit(error) { metrics.count(limit) }
            throw Problem(error)
        }
    }

    private func answer(_ message: [UInt8], from origin: Origin, _ reader: SocketReader) async -> WebSocketAnswer {
        let start = ContinuousClock.now
        metrics.begin()
        var trace = RequestTrace(app: origin.app, remoteAddress: origin.remoteAddress)
        let (status, answer) = await respond(message, from: origin, reader, &trace)
        let duration = ContinuousClock.now - start
        metrics.end(route: trace.route, status: status, duration: duration)
        logger.info("request", trace.fields(status: status, duration: duration))
        return answer
    }

    private func respond(
        _ message: [UInt8], from origin: Origin, _ reader: SocketReader, _ trace: inout RequestTrace
    ) async -> (status: Int, WebSocketAnswer) {
        // The limit first: nobody is served for asking nonsense.
        let wait = limits.take(origin.client, path: origin.route)
        if wait != nil { metrics.count(.addressRate) }
        let question: SocketQuestion
        switch reader.read(message) {
        case .question(let read): question = read
        case .unreadable(let code, let reason):
            trace.code = .malformedRequest
            trace.reason = "socket.\(code.rawValue)"
            return (400, .close(code, reason: reason))
        }
        (trace.route, trace.subject) = (question.route, question.subject)
        guard let app = apps.value.app(origin.app), let caller = caller(of: origin, app) else {
            trace.code = .tokenExpired
            return (401, .close(.loginExpired, reason: "log in again"))
        }
        trace.surface = app.surface
        do throws(Problem) {
            if let wait { throw Problem(.addressRate, retryAfter: wait) }
            try limit(caller, of: app)
            let call = Call(
                app: app, caller: caller, body: [:], content: [], query: [], parameters: [:], correlationID: trace.id)
            return (200, .message(try await question.answer(call)))
        } catch {
            let problem = told(error, &trace)
            return (ProblemCatalog.entry(for: problem.code).status, .message(question.refusal(problem, trace.id)))
        }
    }

    private func caller(of origin: Origin, _ app: ServedApp) -> Caller? {
        let request = HTTPRequest(method: "GET", path: "/", headers: [("Authorization", origin.authorization)])
        switch authenticator.judge(request, for: app, kind: .login) {
        case .caller(let caller): return caller
        case .refused(let refusal):
            security.record(refusal)
            return nil
        }
    }
}

extension Limit {
    /// The limit of sockets that was reached, if it was one.
    init?(_ refusal: WebSocketRefusal) {
        switch refusal {
        case .tooManyOfAddress: self = .addressSockets
        case .tooMany: self = .sockets
        case .upgradeRequired, .malformed: return nil
        }
    }
}

extension Problem {
    /// A request that becomes no WebSocket. 426 says what it should have asked for (RFC 9110 §15.5.22, RFC 6455 §4.4).
    init(_ refusal: WebSocketRefusal) {
        switch refusal {
        case .upgradeRequired:
            self.init(ProblemCode.upgradeRequired)
            headers = [Header(name: "Upgrade", value: "websocket"), Header(name: "Sec-WebSocket-Version", value: "13")]
        case .malformed(let reason):
            self = .malformed("", reason: refusal.code, detail: "The handshake is not acceptable: \(reason).")
        case .tooManyOfAddress: self.init(.addressSockets, retryAfter: .seconds(1))
        case .tooMany:
            self.init(.serviceBusy)
            members.set("reason", .string(Limit.sockets.rawValue))
        }
    }
}
