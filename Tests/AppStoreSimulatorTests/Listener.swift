import HTTPServer
import JOSE
import JSON
import Synchronization
import TestSupport

/// An app's server: keeps what is posted to it and answers as it is told.
final class Listener: Sendable {
    private struct State {
        var statuses: [Int] = []
        var posted: [String] = []
    }

    private final class Inbox: Sendable {
        let state = Mutex(State())
    }

    private let server: HTTPServer
    private let inbox: Inbox

    private init(server: HTTPServer, inbox: Inbox) {
        self.server = server
        self.inbox = inbox
    }

    static func start() throws -> Listener {
        let inbox = Inbox()
        let server = try HTTPServer.start(.init(), bodyLimit: { _, _ in 256 << 10 }) { request in
            let body = try? JSONReader.parseObject(request.body)
            let status = inbox.state.withLock { state in
                state.posted.append(body?["signedPayload"]?.stringValue ?? "")
                return state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
            }
            return .text(status, "")
        }
        return Listener(server: server, inbox: inbox)
    }

    func stop() { server.stop(grace: .zero) }

    var url: String { "http://127.0.0.1:\(server.port)/apple/iap/notifications" }

    /// The next answers; 200 after them.
    func answer(_ statuses: [Int]) { inbox.state.withLock { $0.statuses = statuses } }

    /// What was posted, in order.
    var payloads: [String] { inbox.state.withLock { $0.posted } }

    /// The decoded payloads of what was posted, in order.
    func posted() throws -> [JSONObject] { try payloads.map { try Self.decoded($0) } }

    /// Waits until so many were posted.
    func wait(for count: Int) throws -> [JSONObject] {
        try eventually("\(count) notifications are posted") { payloads.count >= count }
        return try posted()
    }

    /// The payload of a JWS.
    static func decoded(_ jws: String) throws -> JSONObject {
        try JSONReader.parseObject(try CompactJWS(Array(jws.utf8)).decodePayload())
    }
}

extension JSONObject {
    /// `TYPE` or `TYPE/SUBTYPE`.
    var kind: String {
        [self["notificationType"]?.stringValue, self["subtype"]?.stringValue].compactMap { $0 }.joined(separator: "/")
    }

    /// `notificationUUID`.
    var uuid: String { self["notificationUUID"]?.stringValue ?? "" }

    /// The decoded transaction inside.
    func transaction() throws -> JSONObject {
        try Listener.decoded(self["data"]?.objectValue?["signedTransactionInfo"]?.stringValue ?? "")
    }

    /// The decoded renewal info inside.
    func renewalInfo() throws -> JSONObject {
        try Listener.decoded(self["data"]?.objectValue?["signedRenewalInfo"]?.stringValue ?? "")
    }
}
