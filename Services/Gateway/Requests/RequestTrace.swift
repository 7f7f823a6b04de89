import Apps
import HTTPServer
import Messages
import Observability
import Pipeline

/// What is known of a request while it is answered: for the access log, metrics, and the answer's request id.
struct RequestTrace: Sendable {
    /// Server-made UUID; also the correlation id of every message the request causes.
    let id: String
    /// The method, if it is one HTTP defines: anything else is a stranger's text and is logged as `OTHER`.
    let method: String
    /// The client's own `X-Request-Id`, sanitised. Only logged: two clients may use the same.
    let clientRequestID: String?
    /// The client's address: the peer's, or the one a trusted proxy names.
    let remoteAddress: String
    /// The route's template once it is known; never the path, which may hold ids.
    var route = RequestTrace.unknownRoute
    /// The app once it is known.
    var app: AppID?
    /// Its surface once it is known.
    var surface: AppConfiguration.Surface?
    /// What the call is about once the route is known.
    var subject = Endpoint.Subject.other
    /// The code of the answer when it is a problem.
    var code: ProblemCode?
    /// A finer reason for operators, free of payloads.
    var reason: String?

    /// What stands for the route of a request that has none.
    static let unknownRoute = "-"
    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
    /// Stands for the method of what came over a WebSocket.
    private static let message = "WS"
    /// Longer ids of clients are cut: UUIDs have 36, W3C trace parents 55 characters.
    private static let longestClientID = 64

    /// A new request id, UUID text.
    static func newID() -> String { UUIDText.random() }

    /// Begins the trace of `request`.
    init(_ request: HTTPRequest) {
        id = Self.newID()
        method = Self.methods.contains(request.method) ? request.method : "OTHER"
        clientRequestID = request.header("X-Request-Id").flatMap(Self.sanitised)
        remoteAddress = request.client?.description ?? request.remoteAddress
    }

    /// Begins the trace of a socket's message.
    init(app: AppID, remoteAddress: String) {
        id = Self.newID()
        method = Self.message
        clientRequestID = nil
        self.remoteAddress = remoteAddress
        self.app = app
    }

    /// Visible ASCII only, cut to a sane length; nil if nothing is left.
    static func sanitised(_ text: String) -> String? {
        let visible = text.utf8.lazy.filter { (0x21...0x7E).contains($0) }.prefix(longestClientID)
        let result = String(decoding: Array(visible), as: UTF8.self)
        return result.isEmpty ? nil : result
    }

    /// The fields of the access-log line: no query, no header, no body, no path.
    func fields(status: Int, duration: Duration) -> [String: LogValue] {
        var fields: [String: LogValue] = [
            "http.method": .string(method), "http.route": .string(route), "http.status": .int(status),
            "duration.ms": .duration(duration), "correlation.id": .string(id),
            "remote.address": .string(remoteAddress),
        ]
        if let app { fields["app"] = .string(app.rawValue) }
        if let clientRequestID { fields["client.request.id"] = .string(clientRequestID) }
        if let code { fields["answer.code"] = .string(code.rawValue) }
        if let reason { fields["answer.reason"] = .string(reason) }
        return fields
    }
}
